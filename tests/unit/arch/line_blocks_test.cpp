// SPDX-License-Identifier: Apache-2.0
#include "arch/line_blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace {

using line = std::array<std::uint64_t, 8>;

struct alignas(64) lines {
    line before{}, at{}, after{};
};

TEST(line_blocks, are_one_line) {
    lines from, to;
    std::iota(from.at.begin(), from.at.end(), 1);
    from.before.fill(99);
    from.after.fill(99);
    tulle_copy_line(to.at.data(), from.at.data());
    EXPECT_EQ(to.at, from.at);
    EXPECT_EQ(to.before, line{});
    EXPECT_EQ(to.after, line{});
    tulle_fill_line(to.at.data(), 0x0123456789ABCDEF);
    EXPECT_EQ(to.at[0], 0x0123456789ABCDEFU);
    EXPECT_EQ(to.at[7], 0x0123456789ABCDEFU);
    EXPECT_EQ(to.before, line{});
    EXPECT_EQ(to.after, line{});
}

#if defined(__x86_64__)
// In one statement, so that nothing else uses the registers between.
TEST(line_blocks, keep_vector_registers) {
    lines from, to;
    alignas(16) line kept{};
    line const wanted{1, 2, 3, 4, 5, 6, 7, 8};
    auto const* const values = wanted.data();
    void* target = to.at.data();
    void* source = from.at.data();
    auto const after = [&](void* call) {
        asm volatile("movups (%[values]), %%xmm0\n\tmovups 16(%[values]), %%xmm1\n\t"
                     "movups 32(%[values]), %%xmm2\n\tmovups 48(%[values]), %%xmm3\n\t"
                     "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\t"
                     "call *%[call]\n\tmovq %%rbx, %%rsp\n\t"
                     "movups %%xmm0, (%[kept])\n\tmovups %%xmm1, 16(%[kept])\n\t"
                     "movups %%xmm2, 32(%[kept])\n\tmovups %%xmm3, 48(%[kept])"
                     : "+D"(target), "+S"(source)
                     : [values] "r"(values), [kept] "r"(kept.data()), [call] "r"(call)
                     : "rbx", "xmm0", "xmm1", "xmm2", "xmm3", "memory", "cc");
        target = to.at.data();
        source = from.at.data();
        return kept;
    };
    EXPECT_EQ(after(reinterpret_cast<void*>(&tulle_copy_line)), wanted);
    EXPECT_EQ(after(reinterpret_cast<void*>(&tulle_fill_line)), wanted);
}
#endif

} // namespace

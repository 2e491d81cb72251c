// SPDX-License-Identifier: Apache-2.0
#include "arch/line_blocks.hpp"

#include "arch/line_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>

namespace {

constexpr std::size_t k_lines = 3; // that are copied

struct alignas(8) bytes : std::array<unsigned char, 64 * k_lines> {};

struct alignas(64) lines {
    std::array<unsigned char, 64> before{};
    bytes at{};
    std::array<unsigned char, 64> after{};

    [[nodiscard]] bool has_only_lines() const {
        return before == decltype(before){} && after == decltype(after){};
    }
};

// By blocks, where this architecture has some, and by words.
struct functions {
    char const* name;
    void (*copy)(void* to, void const* from, std::size_t lines);
    int (*copy_differing)(void* to, void const* from, void const* twin, std::size_t lines);
    void (*fill)(void* to, std::uint64_t word);
};
constexpr functions k_blocks{"blocks", tulle_copy_lines, tulle_copy_differing_lines,
                             tulle_fill_line};
constexpr functions k_words{"words", tulle::arch::words::copy_lines,
                            tulle::arch::words::copy_differing_lines,
                            tulle::arch::words::fill_line};

class line_blocks : public testing::TestWithParam<functions> {
protected:
    [[nodiscard]] bool copy_differing(bytes const& from, bytes const& twin) {
        return GetParam().copy_differing(m_to.at.data(), from.data(), twin.data(), k_lines) != 0;
    }
    lines m_to;
};

[[nodiscard]] bytes numbered() {
    bytes made;
    std::iota(made.begin(), made.end(), static_cast<unsigned char>(1));
    return made;
}

TEST_P(line_blocks, are_so_many_lines) {
    bytes const from = numbered();
    GetParam().copy(m_to.at.data(), from.data(), k_lines);
    EXPECT_EQ(m_to.at, from);
    EXPECT_TRUE(m_to.has_only_lines());
    GetParam().copy(m_to.at.data(), bytes{}.data(), 0);
    EXPECT_EQ(m_to.at, from);
}

TEST_P(line_blocks, are_filled_with_a_word) {
    std::uint64_t const word = 0x0807'0605'0403'0201;
    GetParam().fill(m_to.at.data(), word);
    bytes wanted{};
    for (std::size_t k = 0; k < 64; k += sizeof word)
        std::memcpy(wanted.data() + k, &word, sizeof word);
    EXPECT_EQ(m_to.at, wanted); // one line only
    EXPECT_TRUE(m_to.has_only_lines());
}

TEST_P(line_blocks, that_are_like_the_twin_are_left_alone) {
    m_to.at.fill(0xEE);
    EXPECT_FALSE(copy_differing(numbered(), numbered()));
    bytes wanted;
    wanted.fill(0xEE);
    EXPECT_EQ(m_to.at, wanted);
}

TEST_P(line_blocks, that_are_unlike_the_twin_all_over_are_copied) {
    bytes twin = numbered();
    for (unsigned char& byte : twin) byte = static_cast<unsigned char>(byte + 1);
    EXPECT_TRUE(copy_differing(numbered(), twin));
    EXPECT_EQ(m_to.at, numbered());
    EXPECT_TRUE(m_to.has_only_lines());
}

// What somebody else has written beside it stays.
TEST_P(line_blocks, each_byte_that_differs_is_copied_and_no_other) {
    for (std::size_t k = 0; k < m_to.at.size(); ++k) {
        bytes twin = numbered();
        twin[k] = static_cast<unsigned char>(~twin[k]);
        m_to.at.fill(0xEE);
        EXPECT_TRUE(copy_differing(numbered(), twin));
        bytes wanted;
        wanted.fill(0xEE);
        wanted[k] = numbered()[k];
        EXPECT_EQ(m_to.at, wanted) << "byte " << k;
    }
}

TEST_P(line_blocks, runs_of_bytes_that_differ_may_have_any_length) {
    for (std::size_t length = 1; length < 64; ++length) {
        bytes twin = numbered();
        bytes wanted;
        wanted.fill(0xEE);
        for (std::size_t k = length; k < twin.size(); k += 2 * length)
            for (std::size_t j = k; j < std::min(k + length, twin.size()); ++j) {
                wanted[j] = twin[j];
                twin[j] = static_cast<unsigned char>(twin[j] ^ 0x80U);
            }
        m_to.at.fill(0xEE);
        EXPECT_TRUE(copy_differing(numbered(), twin));
        EXPECT_EQ(m_to.at, wanted) << "runs of " << length;
    }
    EXPECT_TRUE(m_to.has_only_lines());
}

INSTANTIATE_TEST_SUITE_P(each_way, line_blocks, testing::Values(k_blocks, k_words),
                         [](auto const& tested) { return std::string(tested.param.name); });

#if defined(__x86_64__)
using four_registers = std::array<std::uint64_t, 8>;

// What is in the first four registers after a call; before it they have what is wanted. In one
// statement, so that nothing else uses the registers between.
four_registers after(void* call, four_registers const& wanted, lines& to, lines& from,
                     std::uint64_t third) {
    alignas(16) four_registers kept{};
    void* target = to.at.data();
    void* source = from.at.data();
    std::uint64_t fourth = k_lines;
    asm volatile("movups (%[values]), %%xmm0\n\tmovups 16(%[values]), %%xmm1\n\t"
                 "movups 32(%[values]), %%xmm2\n\tmovups 48(%[values]), %%xmm3\n\t"
                 "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\t"
                 "call *%[call]\n\tmovq %%rbx, %%rsp\n\t"
                 "movups %%xmm0, (%[kept])\n\tmovups %%xmm1, 16(%[kept])\n\t"
                 "movups %%xmm2, 32(%[kept])\n\tmovups %%xmm3, 48(%[kept])"
                 : "+D"(target), "+S"(source), "+d"(third), "+c"(fourth)
                 : [values] "r"(wanted.data()), [kept] "r"(kept.data()), [call] "r"(call)
                 : "rax", "rbx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "memory",
                   "cc");
    return kept;
}

TEST(line_blocks, keep_vector_registers) {
    lines to, from, twin;
    from.at = numbered();
    for (std::size_t k = 0; k < twin.at.size(); k += 3) twin.at[k] = from.at[k];
    four_registers const wanted{1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(after(reinterpret_cast<void*>(&tulle_copy_lines), wanted, to, from, k_lines), wanted);
    EXPECT_EQ(to.at, from.at);
    EXPECT_EQ(after(reinterpret_cast<void*>(&tulle_copy_differing_lines), wanted, to, from,
                    reinterpret_cast<std::uint64_t>(twin.at.data())),
              wanted);
    EXPECT_EQ(after(reinterpret_cast<void*>(&tulle_fill_line), wanted, to, from, 0), wanted);
}
#endif

} // namespace

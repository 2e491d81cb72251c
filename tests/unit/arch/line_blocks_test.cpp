// SPDX-License-Identifier: Apache-2.0
#include "arch/line_blocks.hpp"

#include "arch/line_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
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

// Whether whole lines are used where the processor has them.
class wide_lines {
public:
#if defined(__x86_64__)
    [[nodiscard]] static bool are_there() { return tulle_has_wide_lines != 0; }
    explicit wide_lines(bool used) : m_before(tulle_has_wide_lines) {
        if (!used) tulle_has_wide_lines = 0;
    }
    ~wide_lines() { tulle_has_wide_lines = m_before; }
    wide_lines(wide_lines const&) = delete;
    wide_lines& operator=(wide_lines const&) = delete;

private:
    unsigned char m_before;
#else
    [[nodiscard]] static bool are_there() { return false; }
    explicit wide_lines(bool /*used*/) {}
#endif
};

// By blocks, where this architecture has some, and by words.
struct functions {
    char const* name;
    bool are_wide;
    void (*copy)(void* to, void const* from, std::size_t lines);
    std::uint64_t (*copy_differing)(void* to, void const* from, void const* twin,
                                    std::size_t lines);
    std::uint64_t (*copy_differing_too)(void* to, void const* from, void* twin, std::size_t lines);
    void (*stream)(void* to, void const* from, std::size_t lines);
    std::uint64_t (*stream_differing)(void* to, void const* from, void const* twin,
                                      std::size_t lines);
    void (*fill)(void* to, std::uint64_t word);
};
constexpr functions blocks(char const* name, bool are_wide) {
    return {name,
            are_wide,
            tulle_copy_lines,
            tulle_copy_differing_lines,
            tulle_copy_differing_lines_too,
            tulle_stream_lines,
            tulle_stream_differing_lines,
            tulle_fill_line};
}
constexpr functions k_words{"words",
                            false,
                            tulle::arch::words::copy_lines,
                            tulle::arch::words::copy_differing_lines,
                            tulle::arch::words::copy_differing_lines_too,
                            tulle::arch::words::copy_lines,
                            tulle::arch::words::copy_differing_lines,
                            tulle::arch::words::fill_line};

class line_blocks : public testing::TestWithParam<functions> {
protected:
    void SetUp() override {
        if (GetParam().are_wide && !wide_lines::are_there())
            GTEST_SKIP() << "no registers of 64 bytes here";
    }
    // Each way, which find the same. Whether there is a difference.
    [[nodiscard]] bool copy_differing(bytes const& from, bytes const& twin) {
        bytes to = m_to.at, own_twin = twin;
        lines streamed = m_to;
        std::uint64_t const found =
            GetParam().copy_differing(m_to.at.data(), from.data(), twin.data(), k_lines);
        EXPECT_EQ(GetParam().copy_differing_too(to.data(), from.data(), own_twin.data(), k_lines),
                  found);
        EXPECT_EQ(
            GetParam().stream_differing(streamed.at.data(), from.data(), twin.data(), k_lines),
            found);
        tulle_end_streams();
        EXPECT_EQ(streamed.at, m_to.at);
        EXPECT_TRUE(streamed.has_only_lines());
        EXPECT_EQ(found, differing_lines(from, twin));
        EXPECT_EQ(to, m_to.at);
        EXPECT_EQ(own_twin, from);
        return found != 0;
    }
    // Bit k: line k.
    [[nodiscard]] static std::uint64_t differing_lines(bytes const& a, bytes const& b) {
        std::uint64_t found = 0;
        for (std::size_t k = 0; k < a.size(); ++k)
            if (a[k] != b[k]) found |= std::uint64_t{1} << k / 64;
        return found;
    }
    wide_lines m_wide{GetParam().are_wide};
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
    lines streamed;
    GetParam().stream(streamed.at.data(), from.data(), k_lines);
    tulle_end_streams();
    EXPECT_EQ(streamed.at, from);
    EXPECT_TRUE(streamed.has_only_lines());
}

TEST_P(line_blocks, that_differ_have_a_bit_each) {
    struct alignas(64) many : std::array<unsigned char, 64 * 64> {};
    auto const from = std::make_unique<many>(), twin = std::make_unique<many>(),
               to = std::make_unique<many>();
    from->fill(1);
    twin->fill(1);
    std::uint64_t wanted = 0;
    for (std::size_t const line : {0U, 1U, 31U, 32U, 40U, 63U}) {
        (*twin)[line * 64 + line] = 0;
        wanted |= std::uint64_t{1} << line;
        EXPECT_EQ(GetParam().copy_differing(to->data(), from->data(), twin->data(), 64), wanted);
        EXPECT_EQ((*to)[line * 64 + line], 1);
    }
    EXPECT_EQ(GetParam().copy_differing_too(to->data(), from->data(), twin->data(), 64), wanted);
    EXPECT_EQ(*twin, *from);
    EXPECT_EQ(GetParam().copy_differing(to->data(), from->data(), twin->data(), 64), 0U);
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

INSTANTIATE_TEST_SUITE_P(each_way, line_blocks,
                         testing::Values(blocks("blocks", false), blocks("lines", true), k_words),
                         [](auto const& tested) { return std::string(tested.param.name); });

#if defined(__x86_64__)
using eight_registers = std::array<std::uint64_t, 16>;

// What is in the first eight registers after a call; before it they have what is wanted. In one
// statement, so that nothing else uses the registers between.
eight_registers after(void* call, eight_registers const& wanted, lines& to, lines& from,
                      std::uint64_t third) {
    alignas(16) eight_registers kept{};
    void* target = to.at.data();
    void* source = from.at.data();
    std::uint64_t fourth = k_lines;
    asm volatile("movups (%[values]), %%xmm0\n\tmovups 16(%[values]), %%xmm1\n\t"
                 "movups 32(%[values]), %%xmm2\n\tmovups 48(%[values]), %%xmm3\n\t"
                 "movups 64(%[values]), %%xmm4\n\tmovups 80(%[values]), %%xmm5\n\t"
                 "movups 96(%[values]), %%xmm6\n\tmovups 112(%[values]), %%xmm7\n\t"
                 "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\t"
                 "call *%[call]\n\tmovq %%rbx, %%rsp\n\t"
                 "movups %%xmm0, (%[kept])\n\tmovups %%xmm1, 16(%[kept])\n\t"
                 "movups %%xmm2, 32(%[kept])\n\tmovups %%xmm3, 48(%[kept])\n\t"
                 "movups %%xmm4, 64(%[kept])\n\tmovups %%xmm5, 80(%[kept])\n\t"
                 "movups %%xmm6, 96(%[kept])\n\tmovups %%xmm7, 112(%[kept])"
                 : "+D"(target), "+S"(source), "+d"(third), "+c"(fourth)
                 : [values] "r"(wanted.data()), [kept] "r"(kept.data()), [call] "r"(call)
                 : "rax", "rbx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "memory", "cc");
    return kept;
}
// The same of the register that is used for lines, and the mask. The compiler uses neither here.
eight_registers after_wide(void* call, eight_registers const& wanted, lines& to, lines& from,
                           std::uint64_t third) {
    alignas(64) eight_registers kept{};
    void* target = to.at.data();
    void* source = from.at.data();
    std::uint64_t fourth = k_lines;
    asm volatile("vmovdqu64 (%[values]), %%zmm16\n\tkmovq 64(%[values]), %%k1\n\t"
                 "movq %%rsp, %%rbx\n\tsubq $256, %%rsp\n\tandq $-16, %%rsp\n\t"
                 "call *%[call]\n\tmovq %%rbx, %%rsp\n\t"
                 "vmovdqu64 %%zmm16, (%[kept])\n\tkmovq %%k1, 64(%[kept])"
                 : "+D"(target), "+S"(source), "+d"(third), "+c"(fourth)
                 : [values] "r"(wanted.data()), [kept] "r"(kept.data()), [call] "r"(call)
                 : "rax", "rbx", "r8", "r9", "r10", "r11", "memory", "cc");
    return kept;
}

template <class After> void expect_kept(After registers_after, eight_registers const& wanted) {
    lines to, from, twin;
    from.at = numbered();
    for (std::size_t k = 0; k < twin.at.size(); k += 3) twin.at[k] = from.at[k];
    auto const third = reinterpret_cast<std::uint64_t>(twin.at.data());
    EXPECT_EQ(
        registers_after(reinterpret_cast<void*>(&tulle_copy_lines), wanted, to, from, k_lines),
        wanted);
    EXPECT_EQ(to.at, from.at);
    EXPECT_EQ(
        registers_after(reinterpret_cast<void*>(&tulle_stream_lines), wanted, to, from, k_lines),
        wanted);
    for (auto* call : {reinterpret_cast<void*>(&tulle_copy_differing_lines),
                       reinterpret_cast<void*>(&tulle_stream_differing_lines),
                       reinterpret_cast<void*>(&tulle_copy_differing_lines_too)})
        EXPECT_EQ(registers_after(call, wanted, to, from, third), wanted);
    EXPECT_EQ(twin.at, from.at);
    EXPECT_EQ(registers_after(reinterpret_cast<void*>(&tulle_fill_line), wanted, to, from, 0),
              wanted);
}

TEST(line_blocks, keep_vector_registers) {
    wide_lines const none(false);
    expect_kept(after, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}

TEST(line_blocks, keep_the_register_of_a_line) {
    if (!wide_lines::are_there()) GTEST_SKIP() << "no registers of 64 bytes here";
    expect_kept(after_wide, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    expect_kept(after, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}
#endif

} // namespace

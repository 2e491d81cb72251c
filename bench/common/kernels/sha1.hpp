// SPDX-License-Identifier: Apache-2.0
//
// SHA-1 of a message that fits one block (at most 55 bytes), on big-endian words as the standard
// defines it: no byte order to convert, no buffer. For the random streams of uts.hpp only; SHA-1
// protects nothing any more.
// Source: FIPS 180-4, sections 5.1.1 and 6.1.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kernels {

using sha1_digest = std::array<std::uint32_t, 5>;

struct sha1_state {
    std::uint32_t a, b, c, d, e;

    void step(std::uint32_t f, std::uint32_t key_and_word) {
        std::uint32_t const next = std::rotl(a, 5) + f + e + key_and_word;
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
};

// The message schedule, sixteen words that are renewed in place.
class sha1_schedule {
public:
    explicit sha1_schedule(std::array<std::uint32_t, 16> const& words) : m_words(words) {}

    std::uint32_t word(std::size_t t) {
        if (t < 16) return m_words[t];
        std::uint32_t& w = m_words[t & 15U];
        w = std::rotl(m_words[(t + 13) & 15U] ^ m_words[(t + 8) & 15U] ^ m_words[(t + 2) & 15U] ^ w,
                      1);
        return w;
    }

private:
    std::array<std::uint32_t, 16> m_words;
};

// words: the message as big-endian 32-bit words; length: how many of them.
template <std::size_t Length>
[[gnu::noinline]] sha1_digest sha1(std::array<std::uint32_t, Length> const& words) {
    static_assert(Length <= 13, "the message must leave room for the padding in its only block");
    std::array<std::uint32_t, 16> block{};
    for (std::size_t i = 0; i < Length; ++i) block[i] = words[i];
    block[Length] = 0x80000000U;
    block[15] = static_cast<std::uint32_t>(Length * 32);
    sha1_schedule schedule(block);
    sha1_state s{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
#pragma GCC unroll 20
    for (std::size_t t = 0; t < 20; ++t)
        s.step(s.d ^ (s.b & (s.c ^ s.d)), 0x5a827999U + schedule.word(t));
#pragma GCC unroll 20
    for (std::size_t t = 20; t < 40; ++t) s.step(s.b ^ s.c ^ s.d, 0x6ed9eba1U + schedule.word(t));
#pragma GCC unroll 20
    for (std::size_t t = 40; t < 60; ++t)
        s.step((s.b & s.c) | (s.d & (s.b | s.c)), 0x8f1bbcdcU + schedule.word(t));
#pragma GCC unroll 20
    for (std::size_t t = 60; t < 80; ++t) s.step(s.b ^ s.c ^ s.d, 0xca62c1d6U + schedule.word(t));
    return {s.a + 0x67452301U, s.b + 0xefcdab89U, s.c + 0x98badcfeU, s.d + 0x10325476U,
            s.e + 0xc3d2e1f0U};
}

} // namespace kernels

// SPDX-License-Identifier: Apache-2.0
#include "text_generator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace examples {

namespace {

class generator {
public:
    generator(std::uint64_t seed, std::uint64_t stream)
        : m_state(seed * 0x9e3779b97f4a7c15U ^ stream * 0xd1342543de82ef95U) {}

    // The splitmix64 sequence.
    std::uint64_t next() {
        m_state += 0x9e3779b97f4a7c15U;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32U) * n >> 32U); }

private:
    std::uint64_t m_state;
};

constexpr std::size_t k_longest_line = 128;

class line_maker {
public:
    explicit line_maker(generator& random) : m_random(random) {}

    std::string_view make() {
        m_length = 0;
        unsigned const kind = m_random.below(10);
        if (kind < 5)
            words(2 + m_random.below(9));
        else if (kind < 8)
            log_line();
        else
            number();
        m_line[m_length++] = '\n';
        return {m_line, m_length};
    }

private:
    void add(std::string_view s) {
        s = s.substr(0, k_longest_line - 1 - m_length);
        std::memcpy(m_line + m_length, s.data(), s.size());
        m_length += s.size();
    }

    template <class... Value> void add_formatted(char const* format, Value... values) {
        char text[k_longest_line];
        int const n = std::snprintf(text, sizeof text, format, values...);
        add({text, static_cast<std::size_t>(n)});
    }

    void word() {
        static constexpr std::string_view k_syllables[] = {"ba",  "ter", "mo", "lin", "ska", "dro",
                                                           "e",   "vul", "an", "qui", "so",  "per",
                                                           "tif", "ny",  "ro", "gam"};
        for (unsigned n = 1 + m_random.below(3); n > 0; --n) add(k_syllables[m_random.below(16)]);
    }

    void words(unsigned n) {
        for (; n > 0; --n) {
            word();
            if (n > 1) add(" ");
        }
    }

    void log_line() {
        unsigned const second = m_random.below(86400);
        add_formatted("2026-03-%02u %02u:%02u:%02u host%02u GET /", 1 + m_random.below(28),
                      second / 3600, second / 60 % 60, second % 60, m_random.below(32));
        word();
        add("/");
        word();
        add_formatted(" 200 %u", m_random.below(100000));
    }

    void number() {
        std::uint64_t const value = m_random.next();
        for (unsigned shift = 0; shift < 64; shift += 4) {
            char const digit = "0123456789abcdef"[value >> shift & 15U];
            add({&digit, 1});
        }
        add(" ");
        words(1 + m_random.below(3));
    }

    generator& m_random;
    char m_line[k_longest_line]{};
    std::size_t m_length = 0;
};

} // namespace

void generate_text(std::span<char> block, std::uint64_t seed, std::uint64_t index) {
    generator random(seed, index);
    line_maker maker(random);
    std::size_t filled = 0;
    while (filled < block.size()) {
        std::string_view const line = maker.make();
        std::size_t const n = std::min(line.size(), block.size() - filled);
        std::memcpy(block.data() + filled, line.data(), n);
        filled += n;
    }
    if (!block.empty()) block.back() = '\n';
}

} // namespace examples

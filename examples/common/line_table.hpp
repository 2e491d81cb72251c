// SPDX-License-Identifier: Apache-2.0
//
// Lines of text as an array of 16-byte entries, built in parallel: pieces are read and their
// newlines counted, then each piece enters the lines that end in it. An entry has the line's next
// eight bytes as a number that orders like them, so that sorting looks at the text only where those
// are equal.
#pragma once

#include "huge_buffer.hpp"
#include "policies.hpp"
#include "text_input.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace examples {

inline constexpr std::size_t k_key_bytes = 8;

// The first bytes of a text as a big-endian number; what the text lacks counts as zero bytes.
// At least eight bytes must be readable at data.
inline std::uint64_t key_of(char const* data, std::size_t length) {
    std::uint64_t key = 0;
    std::memcpy(&key, data, sizeof key);
    if constexpr (std::endian::native == std::endian::little) key = __builtin_bswap64(key);
    if (length >= k_key_bytes) return key;
    return length == 0 ? 0 : key & (~std::uint64_t{0} << (64 - 8 * length));
}

// where: position of the line in the text (40 bits), length (24 bits; all ones: so long or longer,
// look for the newline).
class line_entry {
public:
    static constexpr std::size_t k_long_line = (std::size_t{1} << 24U) - 1;
    static constexpr std::size_t k_most_text = std::size_t{1} << 40U;

    line_entry() = default;
    line_entry(char const* text, std::size_t position, std::size_t length)
        : m_key(key_of(text + position, length)),
          m_where(position << 24U | std::min(length, k_long_line)) {}

    [[nodiscard]] std::uint64_t key() const { return m_key; }
    [[nodiscard]] std::uint64_t where() const { return m_where; }
    [[nodiscard]] char const* data(char const* text) const { return text + (m_where >> 24U); }

    [[nodiscard]] std::size_t length(char const* text) const {
        std::size_t const stored = m_where & k_long_line;
        return stored < k_long_line ? stored : long_length(data(text));
    }

    [[nodiscard]] std::string_view view(char const* text) const {
        return {data(text), length(text)};
    }

    // Makes the key that of the bytes from depth on. depth <= length.
    void set_key_at(char const* text, std::size_t depth) {
        std::size_t const stored = m_where & k_long_line;
        m_key = key_of(data(text) + depth,
                       stored < k_long_line ? stored - depth : length(text) - depth);
    }

private:
    [[gnu::noinline]] static std::size_t long_length(char const* data) {
        auto const* const newline = static_cast<char const*>(rawmemchr(data + k_long_line, '\n'));
        return static_cast<std::size_t>(newline - data);
    }

    std::uint64_t m_key;
    std::uint64_t m_where;
};

struct line_table {
    huge_buffer text;
    huge_buffer entries;
    std::size_t lines = 0;
    std::size_t bytes = 0;         // of all lines with their newlines
    std::uint64_t fingerprint = 0; // sum of where() of all: sorting must keep it

    [[nodiscard]] std::span<line_entry> all() const {
        return entries.as<line_entry>().first(lines);
    }
};

// Builds the table of an input's lines. advance(n) is told of bytes that were read.
template <class Policy, class Advance> class line_table_builder {
public:
    line_table_builder(text_input const& input, Advance const& advance)
        : m_input(input),
          m_advance(advance),
          m_pieces(input.pieces()),
          m_summaries(m_pieces.size()) {}

    line_table build() {
        m_table.text = huge_buffer(m_input.memory());
        parallel_for<Policy>(0, m_pieces.size(), [this](std::size_t i) { load(i); });
        place_lines();
        m_table.entries = huge_buffer(m_table.lines * sizeof(line_entry));
        parallel_for<Policy>(0, m_pieces.size(), [this](std::size_t i) { enter(i); });
        for (summary const& s : m_summaries) m_table.fingerprint += s.fingerprint;
        return std::move(m_table);
    }

private:
    struct summary {
        std::size_t end = 0;         // of the text of this piece, an added newline included
        std::size_t lines = 0;       // that end in this piece
        std::size_t last_start = 0;  // of the line that follows the last newline of this piece
        std::size_t first_line = 0;  // index of the first line that ends here ...
        std::size_t first_start = 0; // ... and where it starts
        std::uint64_t fingerprint = 0;
    };

    [[nodiscard]] char* text() const { return m_table.text.data(); }

    void load(std::size_t i) {
        text_input::piece const& p = m_pieces[i];
        summary& s = m_summaries[i];
        m_input.read(p, text());
        s.end = p.position + p.length;
        if (p.last && text()[s.end - 1] != '\n') text()[s.end++] = '\n';
        s.lines = static_cast<std::size_t>(std::count(text() + p.position, text() + s.end, '\n'));
        if (s.lines > 0) {
            void const* const newline = memrchr(text() + p.position, '\n', s.end - p.position);
            s.last_start = static_cast<std::size_t>(static_cast<char const*>(newline) - text()) + 1;
        }
        m_advance(p.length);
    }

    // Where each piece's first line starts, in the text and in the table.
    void place_lines() {
        std::size_t start = 0;
        for (std::size_t i = 0; i < m_pieces.size(); ++i) {
            summary& s = m_summaries[i];
            if (m_pieces[i].first) start = m_pieces[i].position;
            s.first_start = start;
            s.first_line = m_table.lines;
            m_table.lines += s.lines;
            if (s.lines > 0) start = s.last_start;
            m_table.bytes += s.end - m_pieces[i].position;
        }
    }

    void enter(std::size_t i) {
        summary& s = m_summaries[i];
        line_entry* entry = m_table.entries.template as<line_entry>().data() + s.first_line;
        std::size_t start = s.first_start;
        std::size_t from = std::max(start, m_pieces[i].position);
        for (std::size_t left = s.lines; left > 0; --left) {
            auto const* const newline = static_cast<char const*>(rawmemchr(text() + from, '\n'));
            auto const end = static_cast<std::size_t>(newline - text());
            *entry = line_entry(text(), start, end - start);
            s.fingerprint += entry->where();
            ++entry;
            start = from = end + 1;
        }
    }

    text_input const& m_input;
    Advance const& m_advance;
    std::vector<text_input::piece> m_pieces;
    std::vector<summary> m_summaries;
    line_table m_table;
};

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
//
// Writes sorted lines: blocks of lines are gathered from all over the text into buffers and written
// where they belong, in parallel if the output is a file that can be written anywhere, else in
// order. On the way each line is compared with the one before it, which is still in the cache: a
// result that is out of order does not go unnoticed.
#pragma once

#include "buffer_pool.hpp"
#include "file.hpp"
#include "line_table.hpp"
#include "policies.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace examples {

template <class Policy, class Advance> class line_writer {
public:
    // start: where in a seekable output the lines go; none: the output is a stream.
    line_writer(line_table const& table, file& output, std::optional<std::size_t> start,
                Advance const& advance)
        : m_table(table),
          m_output(output),
          m_start(start),
          m_advance(advance),
          m_offsets(blocks() + 1) {}

    // True when the lines are in order and all there.
    [[nodiscard]] bool write() {
        if (m_start.has_value()) {
            place_blocks();
            parallel_for<Policy>(0, blocks(), [this](std::size_t i) { write_block(i); });
        } else {
            for (std::size_t i = 0; i < blocks(); ++i) write_block(i);
        }
        // relaxed: the blocks were joined
        return m_ordered.load(std::memory_order_relaxed) &&
               m_written.load(std::memory_order_relaxed) == m_table.bytes &&
               m_fingerprint.load(std::memory_order_relaxed) == m_table.fingerprint;
    }

private:
    static constexpr std::size_t k_block = std::size_t{1} << 14U; // lines
    static constexpr std::size_t k_buffer = std::size_t{1} << 20U;
    static constexpr std::size_t k_ahead = 24; // lines that are fetched before their turn

    // The lines of one block on their way out.
    struct stretch {
        char* buffer;
        std::size_t filled;
        std::size_t offset; // where in the output the buffer goes
        std::size_t written;
    };

    [[nodiscard]] std::size_t blocks() const { return (m_table.lines + k_block - 1) / k_block; }

    [[nodiscard]] std::span<line_entry> block(std::size_t i) const {
        return m_table.all().subspan(i * k_block, std::min(k_block, m_table.lines - i * k_block));
    }

    void place_blocks() {
        parallel_for<Policy>(0, blocks(), [this](std::size_t i) {
            for (line_entry const& e : block(i))
                m_offsets[i + 1] += e.length(m_table.text.data()) + 1;
        });
        m_offsets[0] = *m_start;
        for (std::size_t i = 0; i < blocks(); ++i) m_offsets[i + 1] += m_offsets[i];
    }

    void write_block(std::size_t i) {
        buffer_pool::loan const buffer(m_buffers);
        stretch out{buffer.data(), 0, m_offsets[i], 0};
        gather(i, out);
        flush(out);
        // relaxed: sums, read after all blocks were joined
        m_written.fetch_add(out.written, std::memory_order_relaxed);
        m_advance(out.written);
    }

    void gather(std::size_t i, stretch& out) {
        char const* const text = m_table.text.data();
        auto const lines = block(i);
        std::string_view previous = i == 0 ? std::string_view{} : block(i - 1).back().view(text);
        std::uint64_t fingerprint = 0;
        bool ordered = true;
        for (std::size_t k = 0; k < lines.size(); ++k) {
            __builtin_prefetch(lines[std::min(k + k_ahead, lines.size() - 1)].data(text));
            std::string_view const line = lines[k].view(text);
            ordered = ordered && previous <= line;
            previous = append({line.data(), line.size() + 1}, out);
            fingerprint += lines[k].where();
        }
        // relaxed: sums, read after all blocks were joined
        m_fingerprint.fetch_add(fingerprint, std::memory_order_relaxed);
        if (!ordered) m_ordered.store(false, std::memory_order_relaxed);
    }

    // Adds a line with its newline; returns the line without, from where it is most likely in the
    // cache.
    std::string_view append(std::string_view line, stretch& out) {
        if (line.size() > k_buffer - out.filled) flush(out);
        if (line.size() > k_buffer) {
            write_bytes(line, out);
            return line.substr(0, line.size() - 1);
        }
        char* const to = out.buffer + out.filled;
        std::memcpy(to, line.data(), line.size());
        out.filled += line.size();
        return {to, line.size() - 1};
    }

    void flush(stretch& out) {
        write_bytes({out.buffer, out.filled}, out);
        out.filled = 0;
    }

    void write_bytes(std::string_view bytes, stretch& out) {
        if (m_start.has_value())
            m_output.write_at(bytes.data(), bytes.size(), out.offset);
        else
            m_output.write(bytes.data(), bytes.size());
        out.offset += bytes.size();
        out.written += bytes.size();
    }

    line_table const& m_table;
    file& m_output;
    std::optional<std::size_t> m_start;
    Advance const& m_advance;
    std::vector<std::size_t> m_offsets; // of each block in the output; the last one is the end
    buffer_pool m_buffers{k_buffer};
    std::atomic<std::size_t> m_written{0};
    std::atomic<std::uint64_t> m_fingerprint{0};
    std::atomic<bool> m_ordered{true};
};

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
// Which parts of coherent memory have ever been allocated, in memory that all hosts share. A list
// that only grows, so that each host remembers how far it has read. Parts are chunks; where the
// program lies they are pages, as between those that it shares are variables of which each host has
// its own.
#pragma once

#include "dsm/line_range.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tulle/coherent_abi.h>
#include <tulle/detail/machine.hpp>
#include <tulle/detail/spin_wait.hpp>

namespace tulle::dsm {

// Machine has pause and yield_processor (detail::native_machine): another process may have to write
// yet, and may have lost its processor there.
template <class Machine> class basic_used_chunks {
public:
    static constexpr std::uint64_t k_bytes = std::uint64_t{1} << 20U; // of a chunk
    static constexpr std::uint64_t k_lines = k_bytes / TULLE_COHERENT_LINE;
    static constexpr std::uint64_t k_page_bytes = 4096; // no unit is larger
    static constexpr std::uint64_t k_page_lines = k_page_bytes / TULLE_COHERENT_LINE;

    struct shared_entry {
        std::atomic<std::uint32_t> use{0};    // of the chunk of this number, as below
        std::atomic<std::uint32_t> number{0}; // one more than that of a chunk; 0: none yet
    };

    // How many parts there are; both are multiples of a chunk.
    [[nodiscard]] static constexpr std::uint64_t count_of(std::uint64_t bytes,
                                                          std::uint64_t program_bytes) noexcept {
        return program_bytes / k_page_bytes + (bytes - program_bytes) / k_bytes;
    }

    // Over zero bytes, or what others have made of them. `program_bytes`: at the beginning.
    basic_used_chunks(std::atomic<std::uint32_t>& count, std::span<shared_entry> entries,
                      line_number first, std::uint64_t program_bytes = 0) noexcept
        : m_count(count),
          m_entries(entries),
          m_first(first),
          m_pages(program_bytes / k_page_bytes) {}

    // Before the lines are used. They are in the list then, whoever has put them there. What is
    // allocated happens before a read of the list by a host that has heard of it.
    void add(line_range lines) noexcept {
        for (line_number at = lines.first; at < lines.end();) {
            std::uint32_t const part = part_of(at);
            add_chunk(part);
            at = lines_of_part(part).end();
        }
    }
    // Whether somebody has added it. relaxed: see read.
    [[nodiscard]] bool has(line_number line) const noexcept {
        return m_entries[part_of(line)].use.load(std::memory_order_relaxed) == k_is_listed;
    }
    // Whether there are parts from the `seen`-th on. relaxed: see read.
    [[nodiscard]] bool has_more(std::uint32_t seen) const noexcept {
        return m_count.load(std::memory_order_relaxed) != seen;
    }
    // Calls each(lines) for all parts from the `seen`-th on.
    template <class F> void read(std::uint32_t& seen, F each) const {
        // relaxed: the program's own synchronisation orders
        for (std::uint32_t const end = m_count.load(std::memory_order_relaxed); seen != end; ++seen)
            each(lines_of(m_entries[seen].number));
    }

    // The same for parts that have been read, from the end on: what was allocated last comes first.
    template <class F> void read_back(std::uint32_t first, std::uint32_t end, F each) const {
        while (end != first) each(lines_of(m_entries[--end].number));
    }

private:
    static constexpr std::uint32_t k_is_added = 1;
    static constexpr std::uint32_t k_is_listed = 2;

    [[nodiscard]] std::uint32_t part_of(line_number line) const noexcept {
        std::uint64_t const offset = line - m_first;
        std::uint64_t const of_program = m_pages * k_page_lines;
        return static_cast<std::uint32_t>(offset < of_program
                                              ? offset / k_page_lines
                                              : m_pages + (offset - of_program) / k_lines);
    }
    [[nodiscard]] line_range lines_of_part(std::uint32_t part) const noexcept {
        if (part < m_pages) return {m_first + part * k_page_lines, k_page_lines};
        return {m_first + m_pages * k_page_lines + (part - m_pages) * k_lines, k_lines};
    }
    void add_chunk(std::uint32_t number) noexcept {
        std::atomic<std::uint32_t>& use = m_entries[number].use;
        std::uint32_t found = 0;
        // relaxed: see read. acquire, all, pairs with the release: the count that has this chunk
        // happens before what the caller reads next.
        if (use.compare_exchange_strong(found, k_is_added, std::memory_order_acquire,
                                        std::memory_order_acquire)) {
            std::uint32_t const at = m_count.fetch_add(1, std::memory_order_relaxed);
            m_entries[at].number.store(number + 1, std::memory_order_relaxed);
            use.store(k_is_listed, std::memory_order_release);
            return;
        }
        for (detail::spin_wait<Machine> wait; found != k_is_listed;) {
            wait.step();
            found = use.load(std::memory_order_acquire);
        }
    }
    // Another host may be between counting and writing.
    [[nodiscard]] line_range lines_of(std::atomic<std::uint32_t> const& entry) const noexcept {
        std::uint32_t number = 0;
        detail::spin_wait<Machine> wait;
        while ((number = entry.load(std::memory_order_relaxed)) == 0) wait.step();
        return lines_of_part(number - 1);
    }

    std::atomic<std::uint32_t>& m_count;
    std::span<shared_entry> m_entries;
    line_number m_first;
    std::uint64_t m_pages; // of the program
};

using used_chunks = basic_used_chunks<detail::native_machine>;

} // namespace tulle::dsm

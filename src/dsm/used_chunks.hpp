// SPDX-License-Identifier: Apache-2.0
// Which parts of coherent memory have ever been allocated, in memory that all hosts share. A list
// that only grows, so that each host remembers how far it has read.
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

    struct shared_entry {
        std::atomic<std::uint32_t> use{0};    // of the chunk of this number, as below
        std::atomic<std::uint32_t> number{0}; // one more than that of a chunk; 0: none yet
    };

    // Over zero bytes, or what others have made of them.
    basic_used_chunks(std::atomic<std::uint32_t>& count, std::span<shared_entry> entries,
                      line_number first) noexcept
        : m_count(count), m_entries(entries), m_first(first) {}

    // Before the lines are used. They are in the list then, whoever has put them there. What is
    // allocated happens before a read of the list by a host that has heard of it.
    void add(line_range lines) noexcept {
        for (std::uint64_t k = (lines.first - m_first) / k_lines;
             k * k_lines < lines.end() - m_first; ++k)
            add_chunk(static_cast<std::uint32_t>(k));
    }
    // Calls each(lines) for all chunks from the `seen`-th on.
    template <class F> void read(std::uint32_t& seen, F each) const {
        // relaxed: the program's own synchronisation orders
        for (std::uint32_t const end = m_count.load(std::memory_order_relaxed); seen != end; ++seen)
            each(lines_of(m_entries[seen].number));
    }

private:
    static constexpr std::uint32_t k_is_added = 1;
    static constexpr std::uint32_t k_is_listed = 2;

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
        return {m_first + (number - 1) * k_lines, k_lines};
    }

    std::atomic<std::uint32_t>& m_count;
    std::span<shared_entry> m_entries;
    line_number m_first;
};

using used_chunks = basic_used_chunks<detail::native_machine>;

} // namespace tulle::dsm

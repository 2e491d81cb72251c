// SPDX-License-Identifier: Apache-2.0
// Which parts of coherent memory have ever been allocated, in memory that all hosts share. A list
// that only grows, so that each host remembers how far it has read.
#pragma once

#include "base/cpu_pause.hpp"
#include "dsm/line_range.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

class used_chunks {
public:
    static constexpr std::uint64_t k_bytes = std::uint64_t{1} << 20U; // of a chunk
    static constexpr std::uint64_t k_lines = k_bytes / TULLE_COHERENT_LINE;

    struct shared_entry {
        std::atomic<std::uint32_t> is_used{0}; // the chunk of this number
        std::atomic<std::uint32_t> number{0};  // one more than that of a chunk; 0: none yet
    };

    // Over zero bytes, or what others have made of them.
    used_chunks(std::atomic<std::uint32_t>& count, std::span<shared_entry> entries,
                line_number first) noexcept
        : m_count(count), m_entries(entries), m_first(first) {}

    // Before the lines are used. What is allocated happens before a read of the list by a host that
    // has heard of it.
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
    void add_chunk(std::uint32_t number) noexcept {
        // relaxed: see read
        if (m_entries[number].is_used.exchange(1, std::memory_order_relaxed) != 0) return;
        std::uint32_t const at = m_count.fetch_add(1, std::memory_order_relaxed);
        m_entries[at].number.store(number + 1, std::memory_order_relaxed);
    }
    // Another host may be between counting and writing.
    [[nodiscard]] line_range lines_of(std::atomic<std::uint32_t> const& entry) const noexcept {
        std::uint32_t number = 0;
        while ((number = entry.load(std::memory_order_relaxed)) == 0) base::cpu_pause();
        return {m_first + (number - 1) * k_lines, k_lines};
    }

    std::atomic<std::uint32_t>& m_count;
    std::span<shared_entry> m_entries;
    line_number m_first;
};

} // namespace tulle::dsm

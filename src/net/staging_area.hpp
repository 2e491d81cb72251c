// SPDX-License-Identifier: Apache-2.0
// Memory that is handed out for large payloads, the lowest that is free first, so that the same
// caches and pages are used again. The notes of what is handed out lie apart from it, as the memory
// may be shared with places that must not spoil them.
#pragma once

#include "base/spin_lock.hpp"
#include "net/packet.hpp"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::net {

class staging_area {
public:
    static constexpr std::size_t k_block = 8192;

    // Throws std::bad_alloc.
    staging_area(std::byte* low, std::size_t bytes) : m_low(low), m_runs(bytes / k_block) {
        if (!m_runs.empty()) m_runs[0].blocks = static_cast<std::uint32_t>(m_runs.size());
    }

    // Takes memory that the place will read; any OS thread may call it. Null: there is not so much
    // in one piece, or that place has died. Not at the beginning of a page:
    // messenger/payload_store.hpp has the reason.
    [[nodiscard]] std::byte* take(rank reader, std::size_t bytes) noexcept;
    // What take() has returned.
    void give_back(std::byte* taken) noexcept;
    // The place has died. What it was to read stays taken until it is given back, as somebody may
    // still write into it; what it had been sent by then stays so.
    void lose(rank dead) noexcept;
    [[nodiscard]] bool is_all_free() noexcept;

private:
    // A run is kept in the entry of its first block; the entries of its other blocks mean nothing.
    struct run {
        std::uint32_t blocks = 0;
        bool is_taken = false;
    };

    void merge_free_runs(std::size_t first) noexcept;

    static constexpr std::size_t k_skew = 1024;

    std::byte* m_low;
    base::spin_lock m_lock; // guards the rest
    std::vector<run> m_runs;
    std::bitset<k_most_places> m_dead;
};

} // namespace tulle::net

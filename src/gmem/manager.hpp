// SPDX-License-Identifier: Apache-2.0
// The memory manager of a group of places: which parts of their segments are allocated, and by
// whom. It lies at the group's leader, which the others ask.
// Any thread; no call waits for anything but the lock, which is held for a search of the heap.
// Source: the memory manager of TNT (Ye and others: TiNy Threads on BlueGene/P, 3.3.2).
#pragma once

#include "base/spin_lock.hpp"
#include "gmem/heap.hpp"
#include "net/packet.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace tulle::gmem {

using net::rank;

inline constexpr rank k_anywhere = ~rank{0};

struct allocation {
    std::uint64_t address;
    std::uint64_t bytes; // as asked for
    rank owner;          // the place that has asked
};

enum class memory_status : std::uint8_t { done, no_room, unknown, no_memory };

class manager {
public:
    // Manages the segments of places `first`, `first` + 1, ..., the first of which lies at `low`.
    // Throws std::bad_alloc.
    manager(algorithm chosen, std::uint64_t low, rank first, rank places,
            std::uint64_t bytes_of_each);

    struct answer {
        memory_status status;
        std::uint64_t value = 0;
    };
    // value: the address, in the segment of `place`, which is one of the group or k_anywhere.
    // no_room: no hole is large enough; no_memory: there is none for the manager itself.
    [[nodiscard]] answer allocate(std::uint64_t bytes, rank owner, rank place) noexcept;
    // value: bytes that were asked for. unknown: no allocation begins there.
    [[nodiscard]] answer release(std::uint64_t address) noexcept;
    [[nodiscard]] answer size_of(std::uint64_t address) noexcept;

    [[nodiscard]] std::vector<allocation> list(); // by address; throws std::bad_alloc
    [[nodiscard]] std::uint64_t free_bytes() noexcept;

private:
    struct entry {
        std::uint64_t bytes;
        rank owner;
    };
    [[nodiscard]] extent extent_of(rank place) const noexcept;

    std::uint64_t const m_low;
    rank const m_first;
    rank const m_places;
    std::uint64_t const m_each;
    base::spin_lock m_lock; // guards the rest
    heap m_heap;
    std::map<std::uint64_t, entry> m_entries; // by address
};

} // namespace tulle::gmem

// SPDX-License-Identifier: Apache-2.0
// How a memory manager finds room in the segments of its group. Offsets and sizes are in bytes from
// the beginning of the first segment, and multiples of k_grain. A heap keeps nothing in the memory
// itself. One thread at a time. Errors: std::bad_alloc, with nothing changed.
// Sources: Knuth, The Art of Computer Programming 1, 2.5 (first fit, best fit, the buddy system).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace tulle::gmem {

inline constexpr std::uint64_t k_grain = 64; // a cache line, so that two allocations share none

// The words of the option global_algorithm, in their order.
enum class algorithm : std::uint8_t { first_fit, best_fit, buddy, round_robin };

inline constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) noexcept {
    return (bytes + to - 1) / to * to;
}

struct extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
};

// Holes by address: the first that is large enough, or the smallest.
class fitting_heap {
public:
    fitting_heap(std::uint64_t bytes, bool takes_smallest);

    // An offset within `range`; none: no hole is large enough.
    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, extent range);
    void release(std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] std::uint64_t free_bytes() const noexcept;

private:
    using holes = std::map<std::uint64_t, std::uint64_t>; // begin, end

    [[nodiscard]] holes::iterator choose(std::uint64_t bytes, extent range) noexcept;
    void take(holes::iterator from, extent taken);

    holes m_holes; // no two touch
    bool m_takes_smallest;
};

// Blocks of powers of two, split and joined again. No block belongs to two segments.
class buddy_heap {
public:
    buddy_heap(std::uint64_t segments, std::uint64_t bytes_of_each);

    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, extent range);
    void release(std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] std::uint64_t free_bytes() const noexcept;

private:
    using blocks = std::set<std::uint64_t>; // their beginnings

    [[nodiscard]] static unsigned order_of(std::uint64_t bytes) noexcept;
    [[nodiscard]] blocks& of_order(unsigned order);
    [[nodiscard]] bool merge(std::uint64_t& offset, unsigned order);

    std::uint64_t m_each;
    std::vector<blocks> m_free; // by the power of two, in grains
};

// Each allocation at the next segment that has room; what is larger than any, wherever it fits.
class rotating_heap {
public:
    rotating_heap(std::uint64_t segments, std::uint64_t bytes_of_each);

    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, extent range);
    void release(std::uint64_t offset, std::uint64_t bytes) { m_holes.release(offset, bytes); }
    [[nodiscard]] std::uint64_t free_bytes() const noexcept { return m_holes.free_bytes(); }

private:
    std::uint64_t m_segments;
    std::uint64_t m_each;
    std::uint64_t m_next = 0;
    fitting_heap m_holes;
};

class heap {
public:
    heap(algorithm chosen, std::uint64_t segments, std::uint64_t bytes_of_each);

    [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes, extent range) {
        return std::visit([&](auto& chosen) { return chosen.allocate(bytes, range); }, m_kind);
    }
    void release(std::uint64_t offset, std::uint64_t bytes) {
        std::visit([&](auto& chosen) { chosen.release(offset, bytes); }, m_kind);
    }
    [[nodiscard]] std::uint64_t free_bytes() const noexcept {
        return std::visit([](auto const& chosen) { return chosen.free_bytes(); }, m_kind);
    }

private:
    using kind = std::variant<fitting_heap, buddy_heap, rotating_heap>;
    [[nodiscard]] static kind make(algorithm chosen, std::uint64_t segments,
                                   std::uint64_t bytes_of_each);

    kind m_kind;
};

} // namespace tulle::gmem

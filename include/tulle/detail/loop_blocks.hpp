// SPDX-License-Identifier: Apache-2.0
// A range of iterations cut into blocks whose bounds depend on their number only, never on workers or chance: what reductions and scans
// combine in the order of the blocks has the same result in every run.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace tulle::detail {

class loop_blocks {
public:
    constexpr loop_blocks(std::uint64_t count, std::uint64_t blocks) noexcept
        : m_blocks(std::max<std::uint64_t>(blocks, 1)), m_size(count / m_blocks), m_larger(count % m_blocks) {}

    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return m_blocks; }
    // The first `m_larger` have one more.
    [[nodiscard]] constexpr std::uint64_t begin(std::uint64_t block) const noexcept { return m_size * block + std::min(block, m_larger); }
    [[nodiscard]] constexpr std::uint64_t end(std::uint64_t block) const noexcept { return begin(block + 1); }

private:
    std::uint64_t m_blocks;
    std::uint64_t m_size;
    std::uint64_t m_larger;
};

// Numbers are reduced and scanned in so many places of a block side by side, as each addition would wait for the one before.
inline constexpr std::uint64_t k_lanes = 4;
inline constexpr std::uint64_t k_least_in_lanes = 64;
template <class T> inline constexpr bool runs_in_lanes = std::is_arithmetic_v<T>;

template <class T, class Map, class Combine>
TULLE_INLINE T reduce_serial(std::uint64_t begin, std::uint64_t end, Map const& map, Combine const& combine) {
    T value = map(begin);
    for (std::uint64_t i = begin + 1; i != end; ++i) value = combine(std::move(value), map(i));
    return value;
}

// The four quarters of a block, of `length` each; the rest at the end is not in them.
template <class T> struct lane_values {
    std::array<T, k_lanes> of;
    std::uint64_t length;
};
template <class T, class Map, class Combine>
TULLE_INLINE lane_values<T> reduce_lanes(std::uint64_t begin, std::uint64_t end, Map const& map, Combine const& combine) {
    std::uint64_t const length = (end - begin) / k_lanes;
    T a = map(begin), b = map(begin + length), c = map(begin + 2 * length), d = map(begin + 3 * length);
    for (std::uint64_t i = begin + 1; i != begin + length; ++i) {
        a = combine(a, map(i));
        b = combine(b, map(i + length));
        c = combine(c, map(i + 2 * length));
        d = combine(d, map(i + 3 * length));
    }
    return {{a, b, c, d}, length};
}

// map(begin) + map(begin + 1) + ..., in an order that depends on the length of the block only; the operands are never exchanged.
template <class T, class Map, class Combine>
T reduce_block(std::uint64_t begin, std::uint64_t end, Map const& map, Combine const& combine) {
    if constexpr (runs_in_lanes<T>) {
        if (end - begin >= k_least_in_lanes) {
            auto const lanes = reduce_lanes<T>(begin, end, map, combine);
            T value = combine(combine(lanes.of[0], lanes.of[1]), combine(lanes.of[2], lanes.of[3]));
            for (std::uint64_t i = begin + k_lanes * lanes.length; i != end; ++i) value = combine(value, map(i));
            return value;
        }
    }
    return reduce_serial<T>(begin, end, map, combine);
}

} // namespace tulle::detail

// SPDX-License-Identifier: Apache-2.0
// A range of iterations cut into blocks whose bounds depend on their number only, never on workers
// or chance: what reductions and scans combine in the order of the blocks has the same result in
// every run.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tulle::detail {

class loop_blocks {
public:
    constexpr loop_blocks(std::uint64_t count, std::uint64_t blocks) noexcept
        : m_blocks(std::max<std::uint64_t>(blocks, 1)),
          m_size(count / m_blocks),
          m_larger(count % m_blocks) {}

    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return m_blocks; }
    [[nodiscard]] constexpr std::uint64_t least() const noexcept { return m_size; } // in a block
    // The first `m_larger` have one more.
    [[nodiscard]] constexpr std::uint64_t begin(std::uint64_t block) const noexcept {
        return m_size * block + std::min(block, m_larger);
    }
    [[nodiscard]] constexpr std::uint64_t end(std::uint64_t block) const noexcept {
        return begin(block + 1);
    }

private:
    std::uint64_t m_blocks;
    std::uint64_t m_size;
    std::uint64_t m_larger;
};

// Numbers are reduced and scanned in so many places side by side, as each addition would wait for
// the one before.
inline constexpr std::uint64_t k_lanes = 4;
inline constexpr std::uint64_t k_least_in_lanes = 64;
template <class T> inline constexpr bool runs_in_lanes = std::is_arithmetic_v<T>;

template <class T, class Map, class Combine>
TULLE_INLINE T reduce_serial(std::uint64_t begin, std::uint64_t end, Map const& map,
                             Combine const& combine) {
    T value = map(begin);
    for (std::uint64_t i = begin + 1; i != end; ++i) value = combine(std::move(value), map(i));
    return value;
}

template <class T, class Map, class Combine>
T reduce_in_lanes(std::uint64_t begin, std::uint64_t end, Map const& map, Combine const& combine) {
    std::uint64_t const length = (end - begin) / k_lanes;
    std::uint64_t const second = begin + length, third = second + length, fourth = third + length;
    T a = map(begin), b = map(second), c = map(third), d = map(fourth);
    for (std::uint64_t i = 1; i != length; ++i) {
        a = combine(a, map(begin + i));
        b = combine(b, map(second + i));
        c = combine(c, map(third + i));
        d = combine(d, map(fourth + i));
    }
    T value = combine(combine(a, b), combine(c, d));
    for (std::uint64_t i = fourth + length; i != end; ++i) value = combine(value, map(i));
    return value;
}

// map(begin) + map(begin + 1) + ..., in an order that depends on the length of the block only; the
// operands are never exchanged.
template <class T, class Map, class Combine>
T reduce_block(std::uint64_t begin, std::uint64_t end, Map const& map, Combine const& combine) {
    if constexpr (runs_in_lanes<T>) {
        if (end - begin >= k_least_in_lanes) return reduce_in_lanes<T>(begin, end, map, combine);
    }
    return reduce_serial<T>(begin, end, map, combine);
}

} // namespace tulle::detail

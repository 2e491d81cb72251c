// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations may run at the same time. An iteration may do what any thread may: wait,
// fork, run loops of its own.
// Called by any thread of the process; the first use starts the run time. The caller takes part,
// and returns when all have ended.
// Memory ordering: what the caller did happens before each iteration, and all iterations happen
// before the return.
// An exception in an iteration ends the loop early, like options.until: what has begun goes on to
// its end, the rest is left out. Then the first exception is thrown to the caller. The result is
// false where options.until has left out iterations.
// Other errors: std::invalid_argument: a step of 0, a tile without points, a range of iterators
// that ends before it begins, a negative bound where the other is unsigned;
// std::length_error: more than 2^63 iterations.
#pragma once

#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/loop_blocks.hpp>
#include <tulle/detail/loop_engine.hpp>
#include <tulle/loop_options.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tulle {

namespace detail {

// Of two bounds: the type that both are converted to. A negative one would become a large one where
// the other is unsigned.
template <class A, class B> using loop_index = std::common_type_t<A, B>;
template <class Index, std::integral From> constexpr Index loop_bound(From value) {
    if constexpr (std::is_unsigned_v<Index> && std::is_signed_v<From>) {
        if (value < 0)
            TULLE_THROW(std::invalid_argument(
                "tulle: one bound of a loop is negative, the other unsigned"));
    }
    return static_cast<Index>(value);
}

// How many are in [begin, end). In unsigned arithmetic, so that no range of integers is too large.
template <std::integral Index>
constexpr std::uint64_t count_between(Index begin, Index end) noexcept {
    return begin < end ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
}
template <std::integral Index>
constexpr Index index_at(Index begin, std::uint64_t offset) noexcept {
    return static_cast<Index>(static_cast<std::uint64_t>(begin) + offset);
}
template <std::random_access_iterator It> std::uint64_t count_between(It first, It last) {
    auto const count = last - first;
    if (count < 0)
        TULLE_THROW(std::invalid_argument("tulle: a range of iterators ends before it begins"));
    return static_cast<std::uint64_t>(count);
}
template <std::integral Index, std::integral Step>
std::uint64_t count_steps(Index begin, Index end, Step step) {
    if (step == 0) TULLE_THROW(std::invalid_argument("tulle::parallel_for: a step of 0"));
    bool const up = step > 0;
    std::uint64_t const distance = up ? count_between(begin, end) : count_between(end, begin);
    std::uint64_t const width =
        up ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    return distance / width + (distance % width != 0 ? 1 : 0);
}

} // namespace detail

// f(i) for each i from `begin` up to, but without `end`; none if end <= begin.
template <std::integral A, std::integral B, class F, class Index = detail::loop_index<A, B>>
requires std::invocable<F&, Index>
bool parallel_for(A begin, B end, F&& f, loop_options const& options = {}) {
    Index const from = detail::loop_bound<Index>(begin);
    return detail::run_chunks(detail::count_between(from, detail::loop_bound<Index>(end)), options,
                              [from, &f](std::uint64_t first, std::uint64_t last) {
                                  for (std::uint64_t i = first; i != last; ++i)
                                      detail::invoke(f, detail::index_at(from, i));
                              });
}

// f(i) for begin, begin + step, begin + 2 * step, ... A step below 0 counts down to, but
// without `end`.
template <std::integral A, std::integral B, std::integral Step, class F,
          class Index = detail::loop_index<A, B>>
requires std::invocable<F&, Index>
bool parallel_for(A begin, B end, Step step, F&& f, loop_options const& options = {}) {
    Index const from = detail::loop_bound<Index>(begin);
    std::uint64_t const count = detail::count_steps(from, detail::loop_bound<Index>(end), step);
    return detail::run_chunks(
        count, options, [from, step, &f](std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t i = first; i != last; ++i)
                detail::invoke(f, detail::index_at(from, i * static_cast<std::uint64_t>(step)));
        });
}

// f(*it) for each element.
template <std::random_access_iterator It, class F>
requires std::invocable<F&, std::iter_reference_t<It>>
bool parallel_for(It first, std::type_identity_t<It> last, F&& f,
                  loop_options const& options = {}) {
    return detail::run_chunks(detail::count_between(first, last), options,
                              [first, &f](std::uint64_t from, std::uint64_t to) {
                                  auto const at = [first](std::uint64_t i) {
                                      return first + static_cast<std::iter_difference_t<It>>(i);
                                  };
                                  for (It it = at(from), end = at(to); it != end; ++it)
                                      detail::invoke(f, *it);
                              });
}

// Equal distribution: f(part, begin, end) once for each of as many parts as there are workers,
// numbered from 0. No part is larger than another by more than one, and none is empty, so there may
// be fewer parts.
template <std::integral A, std::integral B, class F, class Index = detail::loop_index<A, B>>
requires std::invocable<F&, std::uint64_t, Index, Index>
bool parallel_for_parts(A begin, B end, F&& f, loop_stop until = {}) {
    Index const from = detail::loop_bound<Index>(begin);
    std::uint64_t const count = detail::count_between(from, detail::loop_bound<Index>(end));
    if (count == 0) return true;
    detail::loop_blocks const parts(count, std::min(count, detail::loop_width()));
    return detail::run_chunks(parts.count(), {schedule::dynamic(), until},
                              [&](std::uint64_t first, std::uint64_t last) {
                                  for (std::uint64_t p = first; p != last; ++p)
                                      detail::invoke(f, p, detail::index_at(from, parts.begin(p)),
                                                     detail::index_at(from, parts.end(p)));
                              });
}

// A rectangle of points (row, column), without the ends; run in tiles, so that neighbours are run
// together.
template <std::integral Index = std::ptrdiff_t> struct blocked_range_2d {
    Index row_begin;         // the first row
    Index row_end;           // behind the last row
    Index column_begin;      // the first column
    Index column_end;        // behind the last column
    Index tile_rows = 32;    // height of a tile
    Index tile_columns = 32; // width of a tile
};

namespace detail {

// The tiles of a rectangle, numbered row by row.
template <class Index> class tiling {
public:
    explicit tiling(blocked_range_2d<Index> const& all) : m_all(all) {
        if (all.tile_rows <= 0 || all.tile_columns <= 0)
            TULLE_THROW(std::invalid_argument("tulle::blocked_range_2d: a tile without points"));
        m_down = count_steps(all.row_begin, all.row_end, all.tile_rows);
        m_across = count_steps(all.column_begin, all.column_end, all.tile_columns);
        if (m_across != 0 && m_down > UINT64_MAX / m_across)
            TULLE_THROW(std::length_error("tulle::blocked_range_2d: more than 2^63 tiles"));
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return m_down * m_across; }
    [[nodiscard]] blocked_range_2d<Index> operator[](std::uint64_t number) const noexcept {
        auto const side = [](Index begin, Index end, Index size, std::uint64_t k) {
            Index const first = index_at(begin, k * static_cast<std::uint64_t>(size));
            bool const fits = count_between(first, end) > static_cast<std::uint64_t>(size);
            return std::pair{first, fits ? static_cast<Index>(first + size) : end};
        };
        auto const [top, bottom] =
            side(m_all.row_begin, m_all.row_end, m_all.tile_rows, number / m_across);
        auto const [left, right] =
            side(m_all.column_begin, m_all.column_end, m_all.tile_columns, number % m_across);
        return {top, bottom, left, right, m_all.tile_rows, m_all.tile_columns};
    }

private:
    blocked_range_2d<Index> m_all;
    std::uint64_t m_down;
    std::uint64_t m_across;
};

} // namespace detail

// f(tile) for each tile, a blocked_range_2d itself; or f(row, column) for each point, tile by tile.
template <std::integral Index, class F>
requires std::invocable < F&, blocked_range_2d<Index>
const& > ||
    std::invocable<F&, Index, Index> bool parallel_for(blocked_range_2d<Index> const& all, F&& f,
                                                       loop_options const& options = {}) {
    detail::tiling const tiles(all);
    return detail::run_chunks(tiles.count(), options, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t t = first; t != last; ++t) {
            blocked_range_2d<Index> const tile = tiles[t];
            if constexpr (std::invocable<F&, blocked_range_2d<Index> const&>) {
                detail::invoke(f, tile);
            } else {
                for (Index i = tile.row_begin; i != tile.row_end; ++i)
                    for (Index j = tile.column_begin; j != tile.column_end; ++j)
                        detail::invoke(f, i, j);
            }
        }
    });
}

} // namespace tulle

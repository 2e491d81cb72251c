// SPDX-License-Identifier: Apache-2.0
// Reductions: one value from all iterations. `combine` must be associative: (a + b) + c = a + (b +
// c).
// Contexts, memory ordering, exceptions: as parallel_for.hpp says.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/loop_blocks.hpp>
#include <tulle/mutex.hpp>
#include <tulle/parallel_for.hpp>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tulle {

// In which order values are combined.
enum class reduction_order {
    // Operands keep their order, and how they are grouped depends on the number of iterations only:
    // with numbers in floating point, too, the result is the same to the last bit in every run,
    // with any number of workers.
    fixed,
    // Values are combined as they come: for iterations of very different length. `combine` must be
    // commutative, too: a + b = b + a.
    any
};

namespace detail {

inline constexpr std::uint64_t k_reduction_blocks = 512;

template <class T, class Map, class Combine>
T reduce_in_blocks(std::uint64_t count, T init, Map const& map, Combine const& combine) {
    loop_blocks const blocks(count, std::min(count, k_reduction_blocks));
    std::vector<std::optional<T>> values(blocks.count());
    run_chunks(blocks.count(), schedule::dynamic(), [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t b = first; b != last; ++b)
            values[b].emplace(reduce_block<T>(blocks.begin(b), blocks.end(b), map, combine));
    });
    for (auto& value : values) init = combine(std::move(init), *std::move(value));
    return init;
}

template <class T, class Map, class Combine>
T reduce_as_it_comes(std::uint64_t count, T init, Map const& map, Combine const& combine) {
    mutex lock; // guards init
    run_chunks(count, {}, [&](std::uint64_t first, std::uint64_t last) {
        T part = reduce_block<T>(first, last, map, combine);
        std::lock_guard const held(lock);
        init = combine(std::move(init), std::move(part));
    });
    return init;
}

// map(i) is for iteration i of `count`.
template <class T, class Map, class Combine>
T reduce_iterations(std::uint64_t count, T init, Map const& map, Combine const& combine,
                    reduction_order order) {
    if (count == 0) return init;
    if (order == reduction_order::any)
        return reduce_as_it_comes(count, std::move(init), map, combine);
    return reduce_in_blocks(count, std::move(init), map, combine);
}

} // namespace detail

// init + map(begin) + map(begin + 1) + ... + map(end - 1), where + is combine(T, T).
template <std::integral A, std::integral B, class T, class Map, class Combine = std::plus<>,
          class Index = detail::loop_index<A, B>>
requires std::invocable<Map const&, Index>
[[nodiscard]] T parallel_reduce(A begin, B end, T init, Map map, Combine combine = {},
                                reduction_order order = reduction_order::fixed) {
    Index const from = detail::loop_bound<Index>(begin);
    std::uint64_t const count = detail::count_between(from, detail::loop_bound<Index>(end));
    auto const at = [&](std::uint64_t i) -> T {
        return detail::invoke(map, detail::index_at(from, i));
    };
    auto const both = [&](T a, T b) -> T {
        return detail::invoke(combine, std::move(a), std::move(b));
    };
    return detail::reduce_iterations(count, std::move(init), at, both, order);
}

// init + map(*first) + ... over all elements, where + is combine(T, T).
template <std::random_access_iterator It, class T, class Map, class Combine = std::plus<>>
requires std::invocable<Map const&, std::iter_reference_t<It>>
[[nodiscard]] T parallel_reduce(It first, std::type_identity_t<It> last, T init, Map map,
                                Combine combine = {},
                                reduction_order order = reduction_order::fixed) {
    auto const at = [&](std::uint64_t i) -> T {
        return detail::invoke(map, first[static_cast<std::iter_difference_t<It>>(i)]);
    };
    auto const both = [&](T a, T b) -> T {
        return detail::invoke(combine, std::move(a), std::move(b));
    };
    return detail::reduce_iterations(detail::count_between(first, last), std::move(init), at, both,
                                     order);
}

// --- of elements ---------------------------------------------------------------------------------

// init + first[0] + ... + first[n - 1], the same bits in every run.
template <std::random_access_iterator It, class T = std::iter_value_t<It>>
[[nodiscard]] T parallel_sum(It first, std::type_identity_t<It> last, T init = T{}) {
    return parallel_reduce(first, last, std::move(init), std::identity{});
}
// init * first[0] * ... * first[n - 1], the same bits in every run.
template <std::random_access_iterator It, class T = std::iter_value_t<It>>
[[nodiscard]] T parallel_product(It first, std::type_identity_t<It> last, T init = T{1}) {
    return parallel_reduce(first, last, std::move(init), std::identity{}, std::multiplies<>{});
}

namespace detail {

// The first of the best elements; `last` where there is none. better(a, b): a, which comes later,
// is better than b.
template <class It, class Better> It best_element(It first, It last, Better const& better) {
    std::uint64_t const count = count_between(first, last);
    if (count == 0) return last;
    auto const at = [first](std::uint64_t i) -> decltype(auto) {
        return first[static_cast<std::iter_difference_t<It>>(i)];
    };
    auto const pick = [&](std::uint64_t a, std::uint64_t b) {
        return better(at(b), at(a)) ? b : a;
    };
    auto const number = [](std::uint64_t i) { return i; };
    return first + static_cast<std::iter_difference_t<It>>(reduce_iterations(
                       count, std::uint64_t{0}, number, pick, reduction_order::fixed));
}

} // namespace detail

// As std::min_element and std::max_element: the first of the smallest or largest; `last` where
// there are no elements.
template <std::random_access_iterator It, class Less = std::less<>>
[[nodiscard]] It parallel_min_element(It first, std::type_identity_t<It> last, Less less = {}) {
    return detail::best_element(
        first, last, [&less](auto const& a, auto const& b) { return detail::invoke(less, a, b); });
}
template <std::random_access_iterator It, class Less = std::less<>>
[[nodiscard]] It parallel_max_element(It first, std::type_identity_t<It> last, Less less = {}) {
    return detail::best_element(
        first, last, [&less](auto const& a, auto const& b) { return detail::invoke(less, b, a); });
}

} // namespace tulle

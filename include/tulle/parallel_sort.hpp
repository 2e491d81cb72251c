// SPDX-License-Identifier: Apache-2.0
// Sorting and partitioning. `less` is a strict weak order, `pred` always answers alike; both may be
// called by several threads at once.
// Contexts, memory ordering: as parallel_for.hpp says. Errors: what comparing and moving
// elements throws, when all threads have ended;
// the sequence then has all its elements in some order, but after parallel_stable_sort some may
// have been moved from.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/mergesort.hpp>
#include <tulle/detail/partition.hpp>
#include <tulle/detail/quicksort.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace tulle {

// In place, by quicksort; equal elements may change their order. The result is the same in every
// run if no elements are equal.
template <std::random_access_iterator It, class Less = std::less<>>
void parallel_sort(It first, std::type_identity_t<It> last, Less less = {}) {
    if (detail::count_between(first, last) < 2) return;
    auto const before = [&less](auto const& a, auto const& b) -> bool {
        return detail::invoke(less, a, b);
    };
    detail::quicksort<It, decltype(before)>(first, last, before, detail::loop_width())
        .sort(first, last);
}

// By mergesort; equal elements keep their order. Errors also: std::bad_alloc: memory for as many
// elements again.
template <std::random_access_iterator It, class Less = std::less<>>
void parallel_stable_sort(It first, std::type_identity_t<It> last, Less less = {}) {
    std::uint64_t const count = detail::count_between(first, last);
    if (count < 2) return;
    auto const before = [&less](auto const& a, auto const& b) -> bool {
        return detail::invoke(less, a, b);
    };
    detail::merge_buffer<std::iter_value_t<It>> buffer(first, static_cast<std::size_t>(count));
    detail::merge_sort(first, buffer.data(), static_cast<std::ptrdiff_t>(count), false, before);
}

// Elements for which pred holds to the front, in any order; returns their end.
template <std::random_access_iterator It, class Pred>
It parallel_partition(It first, std::type_identity_t<It> last, Pred pred) {
    if (detail::count_between(first, last) == 0) return first;
    auto const holds = [&pred](auto const& x) -> bool { return detail::invoke(pred, x); };
    return detail::partition_elements(first, last, holds);
}

} // namespace tulle

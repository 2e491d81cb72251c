// SPDX-License-Identifier: Apache-2.0
// Algorithms of the standard library in its shape, with tulle::par in the place of
// std::execution::par. They are the loops of parallel_for.hpp, parallel_reduce.hpp,
// parallel_scan.hpp and parallel_sort.hpp, which say what holds for all of them. Unlike std's, they
// let exceptions out, and iterations may wait for each other's threads.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/parallel_for.hpp>
#include <tulle/parallel_reduce.hpp>
#include <tulle/parallel_scan.hpp>
#include <tulle/parallel_sort.hpp>

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tulle {

// Like std::execution::parallel_policy, with the loop's options.
class parallel_policy {
public:
    constexpr parallel_policy() noexcept = default;
    // The same algorithm with these options of the loop: `par(loop_options)`.
    [[nodiscard]] constexpr parallel_policy operator()(loop_options const& chosen) const noexcept {
        return parallel_policy(chosen);
    }
    // What it was made with.
    [[nodiscard]] constexpr loop_options const& options() const noexcept { return m_options; }

private:
    explicit constexpr parallel_policy(loop_options const& chosen) noexcept : m_options(chosen) {}
    loop_options m_options;
};
// The first argument of the algorithms below.
inline constexpr parallel_policy par{};

// f(element) for each. Unlike std's, it may be called by several threads at once.
template <std::random_access_iterator It, class F>
void for_each(parallel_policy const& policy, It first, std::type_identity_t<It> last, F f) {
    parallel_for(first, last, f, policy.options());
}
// f(element) for the first `count`; returns what follows them.
template <std::random_access_iterator It, std::integral N, class F>
It for_each_n(parallel_policy const& policy, It first, N count, F f) {
    if (count <= 0) return first;
    It const last = first + static_cast<std::iter_difference_t<It>>(count);
    parallel_for(first, last, f, policy.options());
    return last;
}

// out[i] = f(first[i]); returns the end of what was written. `out` may be `first`.
template <std::random_access_iterator It, std::random_access_iterator Out, class F>
Out transform(parallel_policy const& policy, It first, std::type_identity_t<It> last, Out out,
              F f) {
    using from = std::iter_difference_t<It>;
    using to = std::iter_difference_t<Out>;
    std::uint64_t const count = detail::count_between(first, last);
    detail::run_chunks(count, policy.options(), [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i != end; ++i)
            out[static_cast<to>(i)] = detail::invoke(f, first[static_cast<from>(i)]);
    });
    return out + static_cast<to>(count);
}
// out[i] = f(first[i], second[i]).
template <std::random_access_iterator A, std::random_access_iterator B,
          std::random_access_iterator Out, class F>
Out transform(parallel_policy const& policy, A first, std::type_identity_t<A> last, B second,
              Out out, F f) {
    using to = std::iter_difference_t<Out>;
    std::uint64_t const count = detail::count_between(first, last);
    detail::run_chunks(count, policy.options(), [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i != end; ++i)
            out[static_cast<to>(i)] =
                detail::invoke(f, first[static_cast<std::iter_difference_t<A>>(i)],
                               second[static_cast<std::iter_difference_t<B>>(i)]);
    });
    return out + static_cast<to>(count);
}

// Each element becomes a copy of the value.
template <std::random_access_iterator It, class T>
void fill(parallel_policy const& policy, It first, std::type_identity_t<It> last, T const& value) {
    for_each(policy, first, last, [&value](auto&& element) { element = value; });
}
// Copies elements; the two ranges must not overlap. Returns the end of what was written.
template <std::random_access_iterator It, std::random_access_iterator Out>
Out copy(parallel_policy const& policy, It first, std::type_identity_t<It> last, Out out) {
    return transform(
        policy, first, last, out, [](auto const& element) -> auto const& { return element; });
}

// --- reductions: the operands keep their order, unlike std's, and the result is the same in every
// run ---

// init + first[0] + ... + first[n - 1], where + is combine.
template <std::random_access_iterator It, class T = std::iter_value_t<It>,
          class Combine = std::plus<>>
[[nodiscard]] T reduce(parallel_policy const&, It first, std::type_identity_t<It> last,
                       T init = T{}, Combine combine = {}) {
    return parallel_reduce(first, last, std::move(init), std::identity{}, std::move(combine));
}
// init + map(first[0]) + ... + map(first[n - 1]), where + is combine.
template <std::random_access_iterator It, class T, class Combine, class Map>
[[nodiscard]] T transform_reduce(parallel_policy const&, It first, std::type_identity_t<It> last,
                                 T init, Combine combine, Map map) {
    return parallel_reduce(first, last, std::move(init), std::move(map), std::move(combine));
}
// The inner product: init + first[0] * second[0] + ...
template <std::random_access_iterator A, std::random_access_iterator B, class T>
[[nodiscard]] T transform_reduce(parallel_policy const&, A first, std::type_identity_t<A> last,
                                 B second, T init) {
    auto const product = [first, second](std::uint64_t i) {
        return first[static_cast<std::iter_difference_t<A>>(i)] *
               second[static_cast<std::iter_difference_t<B>>(i)];
    };
    return parallel_reduce(std::uint64_t{0}, detail::count_between(first, last), std::move(init),
                           product);
}
// For how many elements the predicate holds.
template <std::random_access_iterator It, class Pred>
[[nodiscard]] std::iter_difference_t<It> count_if(parallel_policy const&, It first,
                                                  std::type_identity_t<It> last, Pred pred) {
    using count = std::iter_difference_t<It>;
    return parallel_reduce(first, last, count{0}, [&pred](auto const& x) -> count {
        return detail::invoke(pred, x) ? 1 : 0;
    });
}
// The first of the smallest elements; `last` where there are none.
template <std::random_access_iterator It, class Less = std::less<>>
[[nodiscard]] It min_element(parallel_policy const&, It first, std::type_identity_t<It> last,
                             Less less = {}) {
    return parallel_min_element(first, last, std::move(less));
}
// The first of the largest elements; `last` where there are none.
template <std::random_access_iterator It, class Less = std::less<>>
[[nodiscard]] It max_element(parallel_policy const&, It first, std::type_identity_t<It> last,
                             Less less = {}) {
    return parallel_max_element(first, last, std::move(less));
}

// --- scans, sorting ------------------------------------------------------------------------------

// out[i] = first[0] + ... + first[i]; with an `init` before all of it. Returns the end of what was
// written.
template <std::random_access_iterator It, std::random_access_iterator Out,
          class Combine = std::plus<>>
Out inclusive_scan(parallel_policy const&, It first, std::type_identity_t<It> last, Out out,
                   Combine combine = {}) {
    return parallel_inclusive_scan(first, last, out, std::move(combine));
}
template <std::random_access_iterator It, std::random_access_iterator Out, class Combine, class T>
Out inclusive_scan(parallel_policy const&, It first, std::type_identity_t<It> last, Out out,
                   Combine combine, T init) {
    return parallel_inclusive_scan(first, last, out, std::move(combine), std::move(init));
}
// out[i] = init + first[0] + ... + first[i - 1].
template <std::random_access_iterator It, std::random_access_iterator Out, class T,
          class Combine = std::plus<>>
Out exclusive_scan(parallel_policy const&, It first, std::type_identity_t<It> last, Out out, T init,
                   Combine combine = {}) {
    return parallel_exclusive_scan(first, last, out, std::move(init), std::move(combine));
}
// As parallel_sort(): in place; equal elements may change their order.
template <std::random_access_iterator It, class Less = std::less<>>
void sort(parallel_policy const&, It first, std::type_identity_t<It> last, Less less = {}) {
    parallel_sort(first, last, std::move(less));
}
// As parallel_stable_sort(): equal elements keep their order.
template <std::random_access_iterator It, class Less = std::less<>>
void stable_sort(parallel_policy const&, It first, std::type_identity_t<It> last, Less less = {}) {
    parallel_stable_sort(first, last, std::move(less));
}
// As parallel_partition(): those for which the predicate holds to the front; returns their end.
template <std::random_access_iterator It, class Pred>
It partition(parallel_policy const&, It first, std::type_identity_t<It> last, Pred pred) {
    return parallel_partition(first, last, std::move(pred));
}

} // namespace tulle

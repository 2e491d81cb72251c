// SPDX-License-Identifier: Apache-2.0
// mtbb::parallel_for of MassiveThreads: over the indices from first up to last, or over a range as
// TBB has them, by halves. For C++11 and later.
#ifndef TULLE_COMPAT_MTBB_PARALLEL_FOR_H
#define TULLE_COMPAT_MTBB_PARALLEL_FOR_H

#include <mtbb/task_group.h>

#include <limits>
#include <type_traits>

namespace mtbb {

// body(range) for parts that are not divisible. A range has begin(), end(), grainsize(), empty(),
// is_divisible() and is made of the first three.
template <class Range, class Body> void parallel_for(const Range& range, Body& body) {
    if (range.empty()) return;
    if (!range.is_divisible()) {
        body(range);
        return;
    }
    const auto middle = range.begin() + (range.end() - range.begin()) / 2U;
    const Range left(range.begin(), middle, range.grainsize());
    const Range right(middle, range.end(), range.grainsize());
    task_group group;
    group.run([&left, &body] { mtbb::parallel_for(left, body); });
    mtbb::parallel_for(right, body);
    group.wait();
}

namespace tulle_detail {

// Steps [a, b), at most `grain` of them at a time.
template <class Index, class Part> void for_parts(Index a, Index b, Index grain, const Part& part) {
    if (b - a <= grain) {
        if (a < b) part(a, b);
        return;
    }
    const Index middle = static_cast<Index>(a + (b - a) / 2);
    task_group group;
    group.run([=, &part] { for_parts(a, middle, grain, part); });
    for_parts(middle, b, grain, part);
    group.wait();
}

// Steps are counted without sign, as there may be more of them than the index has positive values.
// Of an index that is no number of the language: in its own type.
template <class Index, bool IsNumber> struct count_type { using type = Index; };
template <class Index> struct count_type<Index, true> {
    using type =
        typename std::common_type<typename std::make_unsigned<Index>::type, unsigned>::type;
};
template <class Index>
using count_of = typename count_type<Index, std::is_integral<Index>::value>::type;

template <class Index> count_of<Index> step_count(Index first, Index last, Index step) {
    using count = count_of<Index>;
    if (!(first < last) || step < Index(0)) return count(0);
    return (static_cast<count>(last) - static_cast<count>(first) - count(1)) /
               static_cast<count>(step) +
           count(1);
}

template <class Index> Index after_steps(Index first, Index step, count_of<Index> steps) {
    using count = count_of<Index>;
    return static_cast<Index>(static_cast<count>(first) + steps * static_cast<count>(step));
}

// Where a part ends: `last`, if the steps of the loop lead to what is no index any more.
template <class Index>
Index end_of_part(Index first, Index last, Index step, count_of<Index> steps) {
    using count = count_of<Index>;
    const Index before = after_steps(first, step, steps - count(1));
    const bool is_past_all =
        std::is_integral<Index>::value &&
        static_cast<count>(std::numeric_limits<Index>::max()) - static_cast<count>(before) <
            static_cast<count>(step);
    return is_past_all ? last : after_steps(first, step, steps);
}

} // namespace tulle_detail

// f(i) for each i.
template <class Index, class Func>
Func parallel_for(Index first, Index last, Index step, const Func& f) {
    using count = tulle_detail::count_of<Index>;
    tulle_detail::for_parts(
        count(0), tulle_detail::step_count(first, last, step), count(1),
        [=, &f](count a, count) { f(tulle_detail::after_steps(first, step, a)); });
    return f;
}
template <class Index, class Func> Func parallel_for(Index first, Index last, const Func& f) {
    return mtbb::parallel_for(first, last, Index(1), f);
}

// f(a, b) for parts [a, b) of at most `grainsize` steps.
template <class Index, class Func>
Func parallel_for(Index first, Index last, Index step, Index grainsize, const Func& f) {
    using count = tulle_detail::count_of<Index>;
    const count grain = grainsize < Index(1) ? count(1) : static_cast<count>(grainsize);
    tulle_detail::for_parts(count(0), tulle_detail::step_count(first, last, step), grain,
                            [=, &f](count a, count b) {
                                f(tulle_detail::after_steps(first, step, a),
                                  tulle_detail::end_of_part(first, last, step, b));
                            });
    return f;
}

} // namespace mtbb

#endif

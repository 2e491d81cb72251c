// SPDX-License-Identifier: Apache-2.0
// mtbb::parallel_for of MassiveThreads: over the indices from first up to last, or over a range as
// TBB has them, by halves. For C++11 and later.
#ifndef TULLE_COMPAT_MTBB_PARALLEL_FOR_H
#define TULLE_COMPAT_MTBB_PARALLEL_FOR_H

#include <mtbb/task_group.h>

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

template <class Index> Index step_count(Index first, Index last, Index step) {
    return first < last ? static_cast<Index>((last - first + step - 1) / step) : Index(0);
}

} // namespace tulle_detail

// f(i) for each i.
template <class Index, class Func>
Func parallel_for(Index first, Index last, Index step, const Func& f) {
    tulle_detail::for_parts(Index(0), tulle_detail::step_count(first, last, step), Index(1),
                            [=, &f](Index a, Index) { f(static_cast<Index>(first + a * step)); });
    return f;
}
template <class Index, class Func> Func parallel_for(Index first, Index last, const Func& f) {
    return mtbb::parallel_for(first, last, Index(1), f);
}

// f(a, b) for parts [a, b) of at most `grainsize` steps.
template <class Index, class Func>
Func parallel_for(Index first, Index last, Index step, Index grainsize, const Func& f) {
    const Index grain = grainsize < Index(1) ? Index(1) : grainsize;
    tulle_detail::for_parts(
        Index(0), tulle_detail::step_count(first, last, step), grain, [=, &f](Index a, Index b) {
            f(static_cast<Index>(first + a * step), static_cast<Index>(first + b * step));
        });
    return f;
}

} // namespace mtbb

#endif

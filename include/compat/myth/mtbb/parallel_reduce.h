// SPDX-License-Identifier: Apache-2.0
// mtbb::parallel_reduce of MassiveThreads: over a range as TBB has them, by halves. For C++11 and
// later. Ranges and bodies are split by their constructor from another one and a tag, whatever the
// tag's type is, so that TBB's headers need not be there.
#ifndef TULLE_COMPAT_MTBB_PARALLEL_REDUCE_H
#define TULLE_COMPAT_MTBB_PARALLEL_REDUCE_H

#include <type_traits>

#include <mtbb/task_group.h>

namespace mtbb {

namespace tulle_detail {

// Becomes the tag of any library.
struct any_split {
    template <class Tag, class = typename std::enable_if<std::is_empty<Tag>::value>::type>
    operator Tag() const { // NOLINT(google-explicit-constructor)
        return Tag();
    }
};

} // namespace tulle_detail

// func(range) for parts that are not divisible, combined from left to right by reduction(a, b).
template <class Range, class Value, class Func, class Reduction>
Value parallel_reduce(const Range& range, const Value& identity, const Func& func,
                      const Reduction& reduction) {
    if (range.empty()) return identity;
    if (!range.is_divisible()) return func(range);
    Range left(range);
    const Range right(left, tulle_detail::any_split());
    Value left_result(identity);
    task_group group;
    group.run([&] { left_result = mtbb::parallel_reduce(left, identity, func, reduction); });
    const Value right_result = mtbb::parallel_reduce(right, identity, func, reduction);
    group.wait();
    return reduction(left_result, right_result);
}

// body(range) for such parts; a body that was split off is joined to the one it came from.
template <class Range, class Body> void parallel_reduce(const Range& range, Body& body) {
    if (range.empty()) return;
    if (!range.is_divisible()) {
        body(range);
        return;
    }
    Range left(range);
    const Range right(left, tulle_detail::any_split());
    Body right_body(body, tulle_detail::any_split());
    task_group group;
    group.run([&left, &body] { mtbb::parallel_reduce(left, body); });
    mtbb::parallel_reduce(right, right_body);
    group.wait();
    body.join(right_body);
}

} // namespace mtbb

#endif

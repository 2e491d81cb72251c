// SPDX-License-Identifier: Apache-2.0
// Sums, products, extremes: parallel_reduce() in its fixed order. Integers wrap around.
#include "compat/qthread/library/arguments.hpp"

#include <qthread/qloop.h>
#include <qthread/qutil.h>

#include <tulle/parallel_reduce.hpp>

#include <cstddef>
#include <exception>
#include <type_traits>

namespace {

struct add {
    template <class T> static constexpr T of_none = 0;
    template <class T> T operator()(T a, T b) const noexcept { return a + b; }
};
struct multiply {
    template <class T> static constexpr T of_none = 1;
    template <class T> T operator()(T a, T b) const noexcept { return a * b; }
};
struct larger {
    template <class T> static constexpr T of_none = 0;
    template <class T> T operator()(T a, T b) const noexcept { return a < b ? b : a; }
};
struct smaller {
    template <class T> static constexpr T of_none = 0;
    template <class T> T operator()(T a, T b) const noexcept { return b < a ? b : a; }
};

template <class T> T wait_until_full(T const* element) {
    static_assert(sizeof(T) == sizeof(aligned_t));
    qthread_readFF(nullptr, reinterpret_cast<aligned_t const*>(element));
    return *element;
}

// parallel_reduce() from the element 1 on; one after the other where there is no memory for it.
template <class Combine, class T, class Get>
T reduce_from(T first, std::size_t length, Get get) noexcept {
    try {
        return tulle::parallel_reduce(std::size_t{1}, length, first, get, Combine{});
    } catch (std::exception const&) {
        for (std::size_t i = 1; i != length; ++i) first = Combine{}(first, get(i));
        return first;
    }
}

// Element 0 is the value to begin with.
template <class Combine, class T> T reduce(T const* array, std::size_t length, int checkfeb) {
    if (length == 0 || !tulle::compat::is_array(array, length)) return Combine::template of_none<T>;
    if (checkfeb == 0)
        return reduce_from<Combine>(array[0], length, [array](std::size_t i) { return array[i]; });
    return reduce_from<Combine>(wait_until_full(array), length,
                                [array](std::size_t i) { return wait_until_full(array + i); });
}

// Sums and products of signed numbers wrap around like those of unsigned ones.
template <class Combine>
saligned_t reduce_wrapping(saligned_t const* array, std::size_t length, int checkfeb) {
    return static_cast<saligned_t>(
        reduce<Combine>(reinterpret_cast<aligned_t const*>(array), length, checkfeb));
}

} // namespace

double qt_double_sum(double* array, size_t length, int checkfeb) {
    return reduce<add>(array, length, checkfeb);
}
double qt_double_prod(double* array, size_t length, int checkfeb) {
    return reduce<multiply>(array, length, checkfeb);
}
double qt_double_max(double* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
double qt_double_min(double* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}
saligned_t qt_int_sum(saligned_t* array, size_t length, int checkfeb) {
    return reduce_wrapping<add>(array, length, checkfeb);
}
saligned_t qt_int_prod(saligned_t* array, size_t length, int checkfeb) {
    return reduce_wrapping<multiply>(array, length, checkfeb);
}
saligned_t qt_int_max(saligned_t* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
saligned_t qt_int_min(saligned_t* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}
aligned_t qt_uint_sum(aligned_t* array, size_t length, int checkfeb) {
    return reduce<add>(array, length, checkfeb);
}
aligned_t qt_uint_prod(aligned_t* array, size_t length, int checkfeb) {
    return reduce<multiply>(array, length, checkfeb);
}
aligned_t qt_uint_max(aligned_t* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
aligned_t qt_uint_min(aligned_t* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}

double qutil_double_sum(double const* array, size_t length, int checkfeb) {
    return reduce<add>(array, length, checkfeb);
}
double qutil_double_mult(double const* array, size_t length, int checkfeb) {
    return reduce<multiply>(array, length, checkfeb);
}
double qutil_double_max(double const* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
double qutil_double_min(double const* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}
saligned_t qutil_int_sum(saligned_t const* array, size_t length, int checkfeb) {
    return reduce_wrapping<add>(array, length, checkfeb);
}
saligned_t qutil_int_mult(saligned_t const* array, size_t length, int checkfeb) {
    return reduce_wrapping<multiply>(array, length, checkfeb);
}
saligned_t qutil_int_max(saligned_t const* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
saligned_t qutil_int_min(saligned_t const* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}
aligned_t qutil_uint_sum(aligned_t const* array, size_t length, int checkfeb) {
    return reduce<add>(array, length, checkfeb);
}
aligned_t qutil_uint_mult(aligned_t const* array, size_t length, int checkfeb) {
    return reduce<multiply>(array, length, checkfeb);
}
aligned_t qutil_uint_max(aligned_t const* array, size_t length, int checkfeb) {
    return reduce<larger>(array, length, checkfeb);
}
aligned_t qutil_uint_min(aligned_t const* array, size_t length, int checkfeb) {
    return reduce<smaller>(array, length, checkfeb);
}

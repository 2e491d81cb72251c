// SPDX-License-Identifier: Apache-2.0
// Loops over objects with operator()(from, to). The object is shared by the threads, which may
// change it even if it is given as const.
#ifndef QLOOP_HPP
#define QLOOP_HPP

#include "qloop.h"

#include <cstddef>

template <class T> void qloop_cpp_wrapper(size_t startat, size_t stopat, void* object) {
    (*static_cast<T*>(object))(startat, stopat);
}

// A qthread for each iteration i: obj(i, i + 1).
template <class T> void qt_loop(size_t start, size_t stop, T const& obj) {
    qt_loop(start, stop, static_cast<qt_loop_f>(qloop_cpp_wrapper<T>), const_cast<T*>(&obj));
}
template <class T> void qt_loop_future(size_t start, size_t stop, T const& obj) {
    qt_loop_future(start, stop, static_cast<qt_loop_f>(qloop_cpp_wrapper<T>), const_cast<T*>(&obj));
}

// Equal distribution: obj(from, to).
template <class T> void qt_loop_balance(size_t start, size_t stop, T const& obj) {
    qt_loop_balance(start, stop, static_cast<qt_loop_f>(qloop_cpp_wrapper<T>),
                    const_cast<T*>(&obj));
}
template <class T> void qt_loop_balance_simple(size_t start, size_t stop, T const& obj) {
    qt_loop_balance_simple(start, stop, static_cast<qt_loop_f>(qloop_cpp_wrapper<T>),
                           const_cast<T*>(&obj));
}
template <class T> void qt_loop_balance_future(size_t start, size_t stop, T const& obj) {
    qt_loop_balance_future(start, stop, static_cast<qt_loop_f>(qloop_cpp_wrapper<T>),
                           const_cast<T*>(&obj));
}

// obj(from, to) returns a T::acctype; T::accumulate(void*, void const*) combines two; T::identity
// is the result of no iterations.
template <class T>
void qloop_accum_cpp_wrapper(size_t startat, size_t stopat, void* object, void* ret) {
    *static_cast<typename T::acctype*>(ret) = (*static_cast<T*>(object))(startat, stopat);
}
template <class T>
typename T::acctype qt_loopaccum_balance(size_t start, size_t stop, T const& obj) {
    typename T::acctype accumulate(T::identity);
    qt_loopaccum_balance(start, stop, sizeof accumulate, &accumulate,
                         static_cast<qt_loopr_f>(qloop_accum_cpp_wrapper<T>), const_cast<T*>(&obj),
                         (qt_accum_f)(T::accumulate));
    return accumulate;
}

#endif

// SPDX-License-Identifier: Apache-2.0
// What <qthread/qthread.h> has for C++ only.
#ifndef QTHREAD_QTHREAD_HPP
#define QTHREAD_QTHREAD_HPP

#include "interface.h"
#include "syncvar.hpp"

// Adds atomically; what was there before.
template <class T, class U> inline T qthread_incr(T* operand, U incr) {
    return __sync_fetch_and_add(operand, static_cast<T>(incr));
}
template <class U> inline float qthread_incr(float* operand, U incr) {
    return qthread_fincr(operand, static_cast<float>(incr));
}
template <class U> inline double qthread_incr(double* operand, U incr) {
    return qthread_dincr(operand, static_cast<double>(incr));
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops as the paper of 2008 has them (section 3.3, doi:10.1109/IPDPS.2008.4536359), under the
 * names of qloop.h: qt_loop() and qt_loop_future() with a stride, which call func(argptr) or
 * func(me, argptr) and have five arguments; and functions of the others whose first argument is
 * `qthread_t* me`. `me` is null: what it was for then needs no argument now. The compiler chooses
 * by the number of
 * arguments and the type of the function. */
#ifndef QTHREAD_QLOOP_2008_H
#define QTHREAD_QLOOP_2008_H

#include "qthread.h"

Q_STARTCXX

typedef struct qthread_s qthread_t;
typedef aligned_t (*qthread_me_f)(qthread_t* me, void* arg);
typedef void (*qt_loop_me_f)(qthread_t* me, size_t const startat, size_t const stopat, void* arg);
typedef void (*qt_loopr_me_f)(qthread_t* me, size_t const startat, size_t const stopat, void* arg,
                              void* ret);
typedef void (*qt_accum_me_f)(void* a, void* b);

void qt_loop_stride(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr);
void qt_loop_stride_me(size_t start, size_t stop, size_t stride, qthread_me_f func, void* argptr);
void qt_loop_future_stride(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr);
void qt_loop_future_stride_me(size_t start, size_t stop, size_t stride, qthread_me_f func,
                              void* argptr);
void qt_loop_balance_me(size_t start, size_t stop, qt_loop_me_f func, void* argptr);
void qt_loop_balance_future_me(size_t start, size_t stop, qt_loop_me_f func, void* argptr);
void qt_loopaccum_balance_me(size_t start, size_t stop, size_t size, void* out, qt_loopr_me_f func,
                             void* argptr, qt_accum_me_f acc);
void qt_loopaccum_balance_future_me(size_t start, size_t stop, size_t size, void* out,
                                    qt_loopr_me_f func, void* argptr, qt_accum_me_f acc);

Q_ENDCXX

#ifdef __cplusplus

inline void qt_loop(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr) {
    qt_loop_stride(start, stop, stride, func, argptr);
}
inline void qt_loop(size_t start, size_t stop, size_t stride, qthread_me_f func, void* argptr) {
    qt_loop_stride_me(start, stop, stride, func, argptr);
}
inline void qt_loop_future(size_t start, size_t stop, size_t stride, qthread_f func, void* argptr) {
    qt_loop_future_stride(start, stop, stride, func, argptr);
}
inline void qt_loop_future(size_t start, size_t stop, size_t stride, qthread_me_f func,
                           void* argptr) {
    qt_loop_future_stride_me(start, stop, stride, func, argptr);
}
inline void qt_loop_balance(size_t start, size_t stop, qt_loop_me_f func, void* argptr) {
    qt_loop_balance_me(start, stop, func, argptr);
}
inline void qt_loop_balance_future(size_t start, size_t stop, qt_loop_me_f func, void* argptr) {
    qt_loop_balance_future_me(start, stop, func, argptr);
}
inline void qt_loopaccum_balance(size_t start, size_t stop, size_t size, void* out,
                                 qt_loopr_me_f func, void* argptr, qt_accum_me_f acc) {
    qt_loopaccum_balance_me(start, stop, size, out, func, argptr, acc);
}
inline void qt_loopaccum_balance_future(size_t start, size_t stop, size_t size, void* out,
                                        qt_loopr_me_f func, void* argptr, qt_accum_me_f acc) {
    qt_loopaccum_balance_future_me(start, stop, size, out, func, argptr, acc);
}

#else

#define QT_LOOP_PICK(A, B, C, D, E, NAME, ...) NAME
#define QT_LOOP_OF_STRIDE(NAME, START, STOP, STRIDE, FUNC, ARG)                                    \
    _Generic((FUNC), qthread_me_f                                                                  \
             : NAME##_me, default                                                                  \
             : NAME)((START), (STOP), (STRIDE), (FUNC), (ARG))
#define QT_LOOP_4(START, STOP, FUNC, ARG) (qt_loop)((START), (STOP), (FUNC), (ARG))
#define QT_LOOP_5(...) QT_LOOP_OF_STRIDE(qt_loop_stride, __VA_ARGS__)
#define QT_LOOP_FUTURE_4(START, STOP, FUNC, ARG) (qt_loop_future)((START), (STOP), (FUNC), (ARG))
#define QT_LOOP_FUTURE_5(...) QT_LOOP_OF_STRIDE(qt_loop_future_stride, __VA_ARGS__)

#define qt_loop(...) QT_LOOP_PICK(__VA_ARGS__, QT_LOOP_5, QT_LOOP_4, 0, 0, 0)(__VA_ARGS__)
#define qt_loop_future(...)                                                                        \
    QT_LOOP_PICK(__VA_ARGS__, QT_LOOP_FUTURE_5, QT_LOOP_FUTURE_4, 0, 0, 0)(__VA_ARGS__)
#define qt_loop_balance(START, STOP, FUNC, ARG)                                                    \
    _Generic((FUNC), qt_loop_me_f                                                                  \
             : qt_loop_balance_me, default                                                         \
             : (qt_loop_balance))((START), (STOP), (FUNC), (ARG))
#define qt_loop_balance_future(START, STOP, FUNC, ARG)                                             \
    _Generic((FUNC), qt_loop_me_f                                                                  \
             : qt_loop_balance_future_me, default                                                  \
             : (qt_loop_balance_future))((START), (STOP), (FUNC), (ARG))
#define qt_loopaccum_balance(START, STOP, SIZE, OUT, FUNC, ARG, ACC)                               \
    _Generic((FUNC), qt_loopr_me_f                                                                 \
             : qt_loopaccum_balance_me, default                                                    \
             : (qt_loopaccum_balance))((START), (STOP), (SIZE), (OUT), (FUNC), (ARG), (ACC))
#define qt_loopaccum_balance_future(START, STOP, SIZE, OUT, FUNC, ARG, ACC)                        \
    _Generic((FUNC), qt_loopr_me_f                                                                 \
             : qt_loopaccum_balance_future_me, default                                             \
             : (qt_loopaccum_balance_future))((START), (STOP), (SIZE), (OUT), (FUNC), (ARG),       \
                                              (ACC))

#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops whose iterations are qthreads, or are given out to as many qthreads as there are workers.
 * All return when the iterations have ended; nothing happens if stop <= start, or without a
 * function. Contexts: any thread of the process, from qthread_initialize() on.
 * Memory ordering: what the caller did happens before each iteration, and all iterations happen
 * before the return.
 * The forms differ in Qthreads by what the caller waits with (a full/empty word, a syncvar, a sinc,
 * a counter); here they are the same.
 * What a program of 2008 calls by the same names: qloop_2008.h, which this header includes. */
#ifndef QTHREAD_QLOOP
#define QTHREAD_QLOOP

#include "qthread.h"

Q_STARTCXX

typedef void (*qt_loop_f)(size_t const startat, size_t const stopat, void* arg);
typedef void (*qt_loop_step_f)(void* arg);
typedef void (*qt_loopr_f)(size_t const startat, size_t const stopat, void* restrict arg,
                           void* restrict ret);
typedef void (*qt_accum_f)(void* restrict a, void const* restrict b);

typedef struct qqloop_handle_s qqloop_handle_t;
typedef struct qqloop_step_handle_s qqloop_step_handle_t;

/* A qthread for each iteration i, which calls func(i, i + 1, argptr). The threads of the simple
 * form must not wait. */
void qt_loop(size_t start, size_t stop, qt_loop_f func, void* argptr);
void qt_loop_simple(size_t start, size_t stop, qt_loop_f func, void* argptr);
void qt_loop_sv(size_t start, size_t stop, qt_loop_f func, void* argptr);
void qt_loop_dc(size_t start, size_t stop, qt_loop_f func, void* argptr);
void qt_loop_aligned(size_t start, size_t stop, qt_loop_f func, void* argptr);
void qt_loop_sinc(size_t start, size_t stop, qt_loop_f func, void* argptr);
/* The same with futures (futurelib.h): no more of them at once than future_init() allows. */
void qt_loop_future(size_t start, size_t stop, qt_loop_f func, void* argptr);
/* A qthread for each of start, start + stride, ..., which calls func(argptr). Nothing happens with
 * a stride of 0. */
void qt_loop_step(size_t start, size_t stop, size_t stride, qt_loop_step_f func, void* argptr);

/* Equal distribution: func(from, to, argptr) by a qthread for each worker, or for each iteration if
 * those are fewer. */
void qt_loop_balance(size_t const start, size_t const stop, qt_loop_f const func, void* argptr);
void qt_loop_balance_simple(size_t const start, size_t const stop, qt_loop_f const func,
                            void* argptr);
void qt_loop_balance_sv(size_t const start, size_t const stop, qt_loop_f const func, void* argptr);
void qt_loop_balance_dc(size_t const start, size_t const stop, qt_loop_f const func, void* argptr);
void qt_loop_balance_aligned(size_t const start, size_t const stop, qt_loop_f const func,
                             void* argptr);
void qt_loop_balance_sinc(size_t const start, size_t const stop, qt_loop_f const func,
                          void* argptr);
void qt_loop_balance_future(size_t const start, size_t const stop, qt_loop_f const func,
                            void* argptr);

/* The same with func(from, to, argptr, ret), which stores `size` bytes at ret. The first part's
 * result goes to `out`, and the others follow, in order, by acc(out, ret). The sinc form combines
 * all parts with what is in `out` before. */
void qt_loopaccum_balance(size_t const start, size_t const stop, size_t const size,
                          void* restrict out, qt_loopr_f const func, void* restrict argptr,
                          qt_accum_f const acc);
void qt_loopaccum_balance_sinc(size_t const start, size_t const stop, size_t const size,
                               void* restrict out, qt_loopr_f const func, void* restrict argptr,
                               qt_accum_f const acc);
void qt_loopaccum_balance_sv(size_t const start, size_t const stop, size_t const size,
                             void* restrict out, qt_loopr_f const func, void* restrict argptr,
                             qt_accum_f const acc);
void qt_loopaccum_balance_dc(size_t const start, size_t const stop, size_t const size,
                             void* restrict out, qt_loopr_f const func, void* restrict argptr,
                             qt_accum_f const acc);
void qt_loopaccum_balance_future(size_t const start, size_t const stop, size_t const size,
                                 void* restrict out, qt_loopr_f const func, void* restrict argptr,
                                 qt_accum_f const acc);

/* Loops whose workers fetch iterations when they have none: CHUNK: always the same number; GUIDED:
 * a fair part of what is left; FACTORED:
 * in rounds, each of half of what is left; TIMED: as many as take some microseconds. */
typedef enum { CHUNK, GUIDED, FACTORED, TIMED } qt_loop_queue_type;

/* func(from, to, argptr), where to - from is a multiple of incr except at the end. NULL: no
 * function, incr 0, no memory. */
qqloop_handle_t* qt_loop_queue_create(qt_loop_queue_type const type, size_t const start,
                                      size_t const stop, size_t const incr, qt_loop_f const func,
                                      void* const argptr);
/* func(argptr) for each of start, start + incr, ... To be run as (qqloop_handle_t*). */
qqloop_step_handle_t* qt_loop_step_queue_create(qt_loop_queue_type const type, size_t start,
                                                size_t stop, size_t incr, qt_loop_step_f func,
                                                void* argptr);
/* Iterations at a time of a CHUNK loop, before it runs; 0: one. */
void qt_loop_queue_setchunk(qqloop_handle_t* l, size_t chunk);
/* Run the loop by all workers, or by one on that shepherd, and free it. A worker whose shepherd is
 * disabled leaves, if there are others. */
void qt_loop_queue_run(qqloop_handle_t* loop);
void qt_loop_queue_run_there(qqloop_handle_t* loop, qthread_shepherd_id_t shep);
/* One worker more; called by a worker of the loop, or before it runs. */
void qt_loop_queue_addworker(qqloop_handle_t* loop, qthread_shepherd_id_t const shep);

/* Of all elements. With `checkfeb` each is waited for until it is full. Of no elements: 0, a
 * product 1. */
double qt_double_sum(double* array, size_t length, int checkfeb);
double qt_double_prod(double* array, size_t length, int checkfeb);
double qt_double_max(double* array, size_t length, int checkfeb);
double qt_double_min(double* array, size_t length, int checkfeb);
saligned_t qt_int_sum(saligned_t* array, size_t length, int checkfeb);
saligned_t qt_int_prod(saligned_t* array, size_t length, int checkfeb);
saligned_t qt_int_max(saligned_t* array, size_t length, int checkfeb);
saligned_t qt_int_min(saligned_t* array, size_t length, int checkfeb);
aligned_t qt_uint_sum(aligned_t* array, size_t length, int checkfeb);
aligned_t qt_uint_prod(aligned_t* array, size_t length, int checkfeb);
aligned_t qt_uint_max(aligned_t* array, size_t length, int checkfeb);
aligned_t qt_uint_min(aligned_t* array, size_t length, int checkfeb);

/* In place, ascending. */
void qt_qsort(double* array, size_t const length);

/* Functions to accumulate with. */
#define QTHREAD_DEFINE_ACCUMULATOR(NAME, NUMBER, COMBINED)                                         \
    static inline void NAME(void* restrict a, void const* restrict b) {                            \
        NUMBER const x = *(NUMBER const*)a, y = *(NUMBER const*)b;                                 \
        *(NUMBER*)a = (COMBINED);                                                                  \
    }
QTHREAD_DEFINE_ACCUMULATOR(qt_dbl_add_acc, double, x + y)
QTHREAD_DEFINE_ACCUMULATOR(qt_int_add_acc, saligned_t, x + y)
QTHREAD_DEFINE_ACCUMULATOR(qt_uint_add_acc, aligned_t, x + y)
QTHREAD_DEFINE_ACCUMULATOR(qt_dbl_prod_acc, double, x* y)
QTHREAD_DEFINE_ACCUMULATOR(qt_int_prod_acc, saligned_t, x* y)
QTHREAD_DEFINE_ACCUMULATOR(qt_uint_prod_acc, aligned_t, x* y)
QTHREAD_DEFINE_ACCUMULATOR(qt_dbl_max_acc, double, x < y ? y : x)
QTHREAD_DEFINE_ACCUMULATOR(qt_int_max_acc, saligned_t, x < y ? y : x)
QTHREAD_DEFINE_ACCUMULATOR(qt_uint_max_acc, aligned_t, x < y ? y : x)
QTHREAD_DEFINE_ACCUMULATOR(qt_dbl_min_acc, double, y < x ? y : x)
QTHREAD_DEFINE_ACCUMULATOR(qt_int_min_acc, saligned_t, y < x ? y : x)
QTHREAD_DEFINE_ACCUMULATOR(qt_uint_min_acc, aligned_t, y < x ? y : x)
#undef QTHREAD_DEFINE_ACCUMULATOR

Q_ENDCXX

#include "qloop_2008.h"

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of <tulle.h> about loops whose iterations may run at the same time, reductions and
 * sorting. Included by it. Iterations may do
 * what any thread may. Memory ordering: what the caller did happens before each iteration, and all
 * iterations before the return. */
#ifndef TULLE_DETAIL_LOOP_H
#define TULLE_DETAIL_LOOP_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many iterations are begun at a time; a thread that has nothing to do takes iterations that
 * have not begun. */
typedef enum tulle_schedule {
    TULLE_AUTOMATIC, /* as many as take some microseconds, by the clock; at least `chunk` */
    /* One part for each worker, of the same number of iterations; the static schedule of OpenMP. */
    TULLE_EVEN,
    TULLE_DYNAMIC,        /* `chunk` */
    TULLE_GUIDED,         /* a quarter of what is left, at least `chunk` */
    TULLE_ONE_THREAD_EACH /* a thread for each iteration, as by tulle_spawn */
} tulle_schedule;

/* Initialise with TULLE_LOOP_INIT. A null pointer stands for that, too. */
typedef struct tulle_loop_options {
    int schedule;   /* a tulle_schedule */
    uint64_t chunk; /* iterations; 0: 1 */
    /* Nonzero ends the loop early: asked atomically before each chunk; null: nothing does. */
    const int* stop;
} tulle_loop_options;
/* clang-format off */
/* The default: automatic, to the end. */
#define TULLE_LOOP_INIT {TULLE_AUTOMATIC, 0, NULL}
/* clang-format on */

/* All functions: 0; -EINVAL: a null function, no such schedule, a step of 0; -ENOMEM; -EAGAIN: no
 * memory or OS threads for a thread;
 * -ECANCELED: *stop has left out iterations; -EOVERFLOW: more than 2^63 iterations, or 2^31 - 1
 * threads. An end before the begin is an empty loop. An exception of C++ that leaves a function
 * ends the loop, and does not go on: its error number where it has one, else -EREMOTEIO, as
 * activity.h has it. */

/* function(i, argument) for begin, begin + step, ... up to, but without `end`; down to it if step <
 * 0. */
TULLE_API int tulle_loop_for(int64_t begin, int64_t end, int64_t step,
                             void (*function)(int64_t i, void* argument), void* argument,
                             const tulle_loop_options* options);
/* function(begin, end, argument) for parts of the range. */
TULLE_API int tulle_loop_chunks(int64_t begin, int64_t end,
                                void (*function)(int64_t begin, int64_t end, void* argument),
                                void* argument, const tulle_loop_options* options);
/* Equal distribution: function(part, begin, end, argument) once for each of as many parts as there
 * are workers, numbered from 0; none is empty, so there may be fewer. `stop` as in the options. */
TULLE_API int tulle_loop_parts(int64_t begin, int64_t end,
                               void (*function)(size_t part, int64_t begin, int64_t end,
                                                void* argument),
                               void* argument, const int* stop);
/* Equal distribution with a value: function(begin, end, argument, value) writes the value, of
 * `size` bytes, of each part;
 * accumulate(result, value) adds it to `result`, in the order of the parts, one at a time. */
TULLE_API int
tulle_loop_accumulate(int64_t begin, int64_t end, size_t size, void* result,
                      void (*function)(int64_t begin, int64_t end, void* argument, void* value),
                      void* argument, void (*accumulate)(void* result, const void* value));

/* Of an array; the same result in every run, with any number of workers. Of no elements: 0, 1,
 * -EINVAL, -EINVAL. */
TULLE_API int tulle_loop_sum(const double* array, size_t count, double* sum);
TULLE_API int tulle_loop_product(const double* array, size_t count, double* product);
TULLE_API int tulle_loop_min(const double* array, size_t count, double* min);
TULLE_API int tulle_loop_max(const double* array, size_t count, double* max);

/* Ascending. There must be no NaN. */
TULLE_API int tulle_loop_sort_doubles(double* array, size_t count);
/* As qsort(3), with several threads; equal elements keep their order. -ENOMEM: memory for as many
 * elements again, and three pointers each. */
TULLE_API int tulle_loop_sort(void* array, size_t count, size_t size,
                              int (*compare)(const void*, const void*));

#ifdef __cplusplus
}
#endif

#endif

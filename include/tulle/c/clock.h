/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks (<tulle/clock.hpp>) in C, for C11 and C++20: barriers for activities at any places, which
 * may join and leave. With one place all of this works, too.
 * Each activity that takes part advances any number of times, and drops once; those that
 * tulle_clock_async_at() starts drop by themselves.
 * -EINVAL: a null pointer, no such place. -EPERM: more use it than take part in it, or all have
 * dropped. -EHOSTDOWN: the clock's place has died, or one where an activity took part. -ENOMEM.
 * Source: clocks of X10 (Charles and others, OOPSLA 2005). */
#ifndef TULLE_DETAIL_CLOCK_H
#define TULLE_DETAIL_CLOCK_H

#include <tulle/c/activity.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies name the same clock; its bytes travel. */
typedef struct {
    uint64_t home; /* the place that keeps it */
    uint64_t name; /* among those of that place */
} tulle_clock_t;

/* The caller takes part. */
TULLE_API int tulle_clock_create(tulle_clock_t* out);
/* Waits until all that take part have called it as often, or have dropped. `phase` may be null: how
 * often that is.
 * Memory ordering: what any of them did before happens before the return. */
TULLE_API int tulle_clock_advance(tulle_clock_t clock, uint64_t* phase);
TULLE_API int tulle_clock_drop(tulle_clock_t clock);
/* tulle_async_at() of an activity that takes part from now on, in the present phase, as the caller
 * does. Its argument tells it the clock if it is to advance it. */
TULLE_API int tulle_clock_async_at(tulle_clock_t clock, tulle_activities_t* activities, int place,
                                   tulle_activity_function_t* function, const void* argument,
                                   size_t size);

#ifdef __cplusplus
}
#endif

#endif

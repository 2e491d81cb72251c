/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier whose participants may arrive without waiting, wait later, and leave; and timers. For
 * C11 and C++20; conventions as in <tulle/c/sync.h>. */
#ifndef TULLE_DETAIL_PHASES_H
#define TULLE_DETAIL_PHASES_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A barrier of phases. */
typedef struct {
    uint64_t tulle_opaque[9];
} tulle_phases_t;

/* For objects with static storage, without a completion function. */
#define TULLE_PHASES_INIT(participants)                                                            \
    {                                                                                              \
        { (participants), (participants) }                                                         \
    }

/* completion(argument) is called by the last that arrives in a phase, before anybody goes on. Null:
 * nothing. */
TULLE_API int tulle_phases_init(tulle_phases_t* phases, uint64_t participants,
                                void (*completion)(void*), void* argument);
TULLE_API int tulle_phases_destroy(tulle_phases_t* phases); /* -EBUSY: threads wait */
/* `phase`, if not null: what to wait for. -EPERM: more arrive than take part. */
TULLE_API int tulle_phases_arrive(tulle_phases_t* phases, uint64_t* phase);
/* The caller does not take part in the phases that follow. -EPERM. */
TULLE_API int tulle_phases_arrive_and_drop(tulle_phases_t* phases);
TULLE_API int tulle_phases_arrive_and_wait(tulle_phases_t* phases); /* -EPERM */
TULLE_API int tulle_phases_wait(tulle_phases_t* phases, uint64_t phase);
/* The arrival counts even if the phase has not ended when these return. */
TULLE_API int tulle_phases_trywait(tulle_phases_t* phases, uint64_t phase); /* -EBUSY */
TULLE_API int tulle_phases_timedwait(tulle_phases_t* phases, uint64_t phase, uint64_t timeout_ns);
TULLE_API int tulle_phases_wait_within(tulle_phases_t* phases, uint64_t phase,
                                       const tulle_limit_t* limit);

/* A call to come. */
typedef struct tulle_timer tulle_timer_t;

/* Calls function(argument) in a thread of its own: after some time, and then, if the period is not
 * 0, again and again, but not more than one call at a time. `*out` is set before the first call.
 * -ENOMEM; -EAGAIN: as tulle_spawn. */
TULLE_API int tulle_timer_start(tulle_timer_t** out, uint64_t after_ns, uint64_t period_ns,
                                void (*function)(void*), void* argument);
/* 0: no call is in progress, and none will begin. -EALREADY: one is in progress, and no other will
 * begin; or the last is over. */
TULLE_API int tulle_timer_cancel(tulle_timer_t* timer);
/* Waits for the one call, or, with a period, until another thread cancels it. */
TULLE_API int tulle_timer_wait(tulle_timer_t* timer);
/* Cancels, waits for a call in progress, unless it is the caller, and frees it. */
TULLE_API int tulle_timer_destroy(tulle_timer_t* timer);

#ifdef __cplusplus
}
#endif

#endif

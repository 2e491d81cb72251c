/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation, for C11 and C++20. Usable from any thread of the process; a waiting thread of
 * Tulle does not block its worker.
 * Each function returns 0 or a negative errno and prints nothing: -EINVAL: a null pointer or a
 * count out of range.
 * Objects: static ones by TULLE_..._INIT, others by tulle_..._init; they must not be copied.
 * destroy gives nothing back but an error
 * (-EBUSY) when threads wait. Time-outs are in nanoseconds from now; 0 only tries, TULLE_FOREVER
 * never ends; -ETIMEDOUT: the time was up. */
#ifndef TULLE_DETAIL_SYNC_H
#define TULLE_DETAIL_SYNC_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A time-out that never ends. */
#define TULLE_FOREVER UINT64_MAX

/* Mutual exclusion. */
typedef struct {
    uint64_t tulle_opaque[7];
} tulle_mutex_t;
/* What threads wait for that hold a mutex. */
typedef struct {
    uint64_t tulle_opaque[4];
} tulle_cond_t;
/* A meeting of so many threads, again and again. */
typedef struct {
    uint64_t tulle_opaque[6];
} tulle_barrier_t;
/* A count that goes down to zero once. */
typedef struct {
    uint64_t tulle_opaque[5];
} tulle_latch_t;
/* A count of notifications to come, and one thread that waits for them. */
typedef struct {
    uint64_t tulle_opaque[2];
} tulle_signal_t;
/* Something that is done once. */
typedef struct {
    uint64_t tulle_opaque[5];
} tulle_once_t;

/* For objects with static storage. */
#define TULLE_MUTEX_INIT                                                                           \
    {                                                                                              \
        { 0 }                                                                                      \
    }
#define TULLE_COND_INIT                                                                            \
    {                                                                                              \
        { 0 }                                                                                      \
    }
#define TULLE_BARRIER_INIT(participants)                                                           \
    {                                                                                              \
        { (participants) }                                                                         \
    }
#define TULLE_LATCH_INIT(count)                                                                    \
    {                                                                                              \
        { (count) }                                                                                \
    }
#define TULLE_SIGNAL_INIT(count)                                                                   \
    {                                                                                              \
        { (count) }                                                                                \
    }
#define TULLE_ONCE_INIT                                                                            \
    {                                                                                              \
        { 0 }                                                                                      \
    }

/* Not recursive. A mutex may be freed only when no unlock is in progress in another thread. */
TULLE_API int tulle_mutex_init(tulle_mutex_t* mutex);
TULLE_API int tulle_mutex_destroy(tulle_mutex_t* mutex); /* -EBUSY: held */
TULLE_API int tulle_mutex_lock(tulle_mutex_t* mutex);
TULLE_API int tulle_mutex_trylock(tulle_mutex_t* mutex); /* -EBUSY: held */
TULLE_API int tulle_mutex_timedlock(tulle_mutex_t* mutex, uint64_t timeout_ns);
TULLE_API int tulle_mutex_lock_within(tulle_mutex_t* mutex, const tulle_limit_t* limit);
TULLE_API int tulle_mutex_unlock(tulle_mutex_t* mutex); /* -EPERM: nobody holds it */

/* The mutex is held by the caller of a wait (-EPERM: nobody holds it), and again when it returns,
 * whatever it returns. */
TULLE_API int tulle_cond_init(tulle_cond_t* cond);
TULLE_API int tulle_cond_destroy(tulle_cond_t* cond);
TULLE_API int tulle_cond_wait(tulle_cond_t* cond, tulle_mutex_t* mutex);
TULLE_API int tulle_cond_timedwait(tulle_cond_t* cond, tulle_mutex_t* mutex, uint64_t timeout_ns);
TULLE_API int tulle_cond_wait_within(tulle_cond_t* cond, tulle_mutex_t* mutex,
                                     const tulle_limit_t* limit);
TULLE_API int tulle_cond_signal(tulle_cond_t* cond);    /* wakes the one that has waited longest */
TULLE_API int tulle_cond_broadcast(tulle_cond_t* cond); /* wakes all */

/* A thread whose time is up does not count as arrived. */
TULLE_API int tulle_barrier_init(tulle_barrier_t* barrier, uint64_t participants);
TULLE_API int tulle_barrier_destroy(tulle_barrier_t* barrier);
TULLE_API int tulle_barrier_wait(tulle_barrier_t* barrier);
TULLE_API int tulle_barrier_trywait(tulle_barrier_t* barrier); /* -EBUSY: others are missing */
TULLE_API int tulle_barrier_timedwait(tulle_barrier_t* barrier, uint64_t timeout_ns);
TULLE_API int tulle_barrier_wait_within(tulle_barrier_t* barrier, const tulle_limit_t* limit);

/* Threads wait until the count is zero. arrive_and_wait counts down first. */
TULLE_API int tulle_latch_init(tulle_latch_t* latch, uint64_t count);
TULLE_API int tulle_latch_destroy(tulle_latch_t* latch);                 /* -EBUSY: not zero */
TULLE_API int tulle_latch_count_down(tulle_latch_t* latch, uint64_t by); /* -EINVAL: less is left */
TULLE_API int tulle_latch_trywait(tulle_latch_t* latch);                 /* -EBUSY: not zero */
TULLE_API int tulle_latch_wait(tulle_latch_t* latch);
TULLE_API int tulle_latch_timedwait(tulle_latch_t* latch, uint64_t timeout_ns);
TULLE_API int tulle_latch_wait_within(tulle_latch_t* latch, const tulle_limit_t* limit);
TULLE_API int tulle_latch_arrive_and_wait(tulle_latch_t* latch, uint64_t by);

/* One thread waits at a time (-EBUSY: another waits already). */
TULLE_API int tulle_signal_init(tulle_signal_t* signal, uint32_t count);
TULLE_API int tulle_signal_destroy(tulle_signal_t* signal);
TULLE_API int tulle_signal_notify(tulle_signal_t* signal); /* -EPERM: the count is zero */
TULLE_API int tulle_signal_add_signalers(tulle_signal_t* signal, uint32_t more);
TULLE_API int tulle_signal_trywait(tulle_signal_t* signal); /* -EBUSY: not zero */
TULLE_API int tulle_signal_wait(tulle_signal_t* signal);
TULLE_API int tulle_signal_timedwait(tulle_signal_t* signal, uint64_t timeout_ns);
TULLE_API int tulle_signal_wait_within(tulle_signal_t* signal, const tulle_limit_t* limit);

/* -ECANCELED: a C++ exception left the function; it is as if it had not been called. */
TULLE_API int tulle_once(tulle_once_t* once, void (*function)(void*), void* argument);

#ifdef __cplusplus
}
#endif

#endif

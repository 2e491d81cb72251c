/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores, and locks other than the plain mutex, for C11 and C++20. As <tulle/c/sync.h> says: 0
 * or a negative errno; -EINVAL: a null pointer or a value out of range; objects are not copied;
 * time-outs in nanoseconds, -ETIMEDOUT; limits: <tulle/c/cancel.h>. */
#ifndef TULLE_DETAIL_LOCKS_H
#define TULLE_DETAIL_LOCKS_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A count of units. */
typedef struct {
    uint64_t tulle_opaque[5];
} tulle_sem_t;
/* A lock of one writer or many readers. */
typedef struct {
    uint64_t tulle_opaque[8];
} tulle_rwlock_t;
/* A lock that its holder may lock again. */
typedef struct {
    uint64_t tulle_opaque[9];
} tulle_rmutex_t;
/* A lock for sections of a few instructions. */
typedef struct {
    uint64_t tulle_opaque[1];
} tulle_spin_t;

/* For objects with static storage. */
#define TULLE_SEM_INIT(count)                                                                      \
    {                                                                                              \
        { (uint64_t)(count) * 2 }                                                                  \
    }
#define TULLE_RWLOCK_INIT                                                                          \
    {                                                                                              \
        { 0 }                                                                                      \
    }
#define TULLE_RMUTEX_INIT                                                                          \
    {                                                                                              \
        { 0 }                                                                                      \
    }
#define TULLE_SPIN_INIT                                                                            \
    {                                                                                              \
        { 0 }                                                                                      \
    }

/* A unit that is posted goes to the thread that has waited longest. A count is at most 2^62. */
TULLE_API int tulle_sem_init(tulle_sem_t* sem, uint64_t count);
TULLE_API int tulle_sem_destroy(tulle_sem_t* sem); /* -EBUSY: threads wait */
TULLE_API int tulle_sem_wait(tulle_sem_t* sem);
TULLE_API int tulle_sem_trywait(tulle_sem_t* sem); /* -EBUSY: the count is zero */
TULLE_API int tulle_sem_timedwait(tulle_sem_t* sem, uint64_t timeout_ns);
TULLE_API int tulle_sem_wait_within(tulle_sem_t* sem, const tulle_limit_t* limit);
TULLE_API int tulle_sem_post(tulle_sem_t* sem, uint64_t count); /* -EOVERFLOW */
TULLE_API int tulle_sem_getvalue(tulle_sem_t* sem, uint64_t* count);

/* One writer or any number of readers; writers and readers that wait take turns. Not recursive, for
 * readers neither. */
TULLE_API int tulle_rwlock_init(tulle_rwlock_t* lock);
TULLE_API int tulle_rwlock_destroy(tulle_rwlock_t* lock); /* -EBUSY: held */
TULLE_API int tulle_rwlock_rdlock(tulle_rwlock_t* lock);
TULLE_API int
tulle_rwlock_tryrdlock(tulle_rwlock_t* lock); /* -EBUSY: a writer holds it, or waits */
TULLE_API int tulle_rwlock_timedrdlock(tulle_rwlock_t* lock, uint64_t timeout_ns);
TULLE_API int tulle_rwlock_rdlock_within(tulle_rwlock_t* lock, const tulle_limit_t* limit);
TULLE_API int tulle_rwlock_wrlock(tulle_rwlock_t* lock);
TULLE_API int tulle_rwlock_trywrlock(tulle_rwlock_t* lock); /* -EBUSY: held */
TULLE_API int tulle_rwlock_timedwrlock(tulle_rwlock_t* lock, uint64_t timeout_ns);
TULLE_API int tulle_rwlock_wrlock_within(tulle_rwlock_t* lock, const tulle_limit_t* limit);
TULLE_API int
tulle_rwlock_unlock(tulle_rwlock_t* lock); /* of either kind. -EPERM: nobody holds it */

/* Its holder may lock it again; free after as many unlocks. */
TULLE_API int tulle_rmutex_init(tulle_rmutex_t* mutex);
TULLE_API int tulle_rmutex_destroy(tulle_rmutex_t* mutex); /* -EBUSY: held */
TULLE_API int tulle_rmutex_lock(tulle_rmutex_t* mutex);
TULLE_API int tulle_rmutex_trylock(tulle_rmutex_t* mutex); /* -EBUSY: another thread holds it */
TULLE_API int tulle_rmutex_timedlock(tulle_rmutex_t* mutex, uint64_t timeout_ns);
TULLE_API int tulle_rmutex_lock_within(tulle_rmutex_t* mutex, const tulle_limit_t* limit);
TULLE_API int tulle_rmutex_unlock(tulle_rmutex_t* mutex); /* -EPERM: the caller does not hold it */

/* For sections of a few instructions; a thread that waits lets others of its worker run. */
TULLE_API int tulle_spin_init(tulle_spin_t* lock);
TULLE_API int tulle_spin_lock(tulle_spin_t* lock);
TULLE_API int tulle_spin_trylock(tulle_spin_t* lock); /* -EBUSY: held */
TULLE_API int tulle_spin_timedlock(tulle_spin_t* lock, uint64_t timeout_ns);
TULLE_API int tulle_spin_lock_within(tulle_spin_t* lock, const tulle_limit_t* limit);
TULLE_API int tulle_spin_unlock(tulle_spin_t* lock);

#ifdef __cplusplus
}
#endif

#endif

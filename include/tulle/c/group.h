/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of <tulle.h> about groups of threads of which at most so many are alive. Included by it.
 */
#ifndef TULLE_DETAIL_GROUP_H
#define TULLE_DETAIL_GROUP_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tulle_group_spawn() does in a group that has as many threads alive as it may. */
typedef enum tulle_when_full {
    TULLE_RUN_INLINE, /* calls the function itself */
    TULLE_CREATE,     /* creates a thread or returns -EAGAIN; never waits */
    /* Keeps it as a record, until a thread of the group ends; a thread of the group calls the
     * function itself. */
    TULLE_RECORD,
    /* Waits until a thread of the group ends; a thread of the group lends its own permit to the new
     * one until it has one again. */
    TULLE_BLOCK
} tulle_when_full;

/* Threads of which at most so many are alive. */
typedef struct tulle_group tulle_group;

/* -EINVAL: `most` is 0, or no such policy; -ENOMEM. */
TULLE_API int tulle_group_create(tulle_group** out, size_t most, int policy);
/* At most so many on each shepherd. Errors besides: those of tulle_init(), as it starts the run
 * time if need be. */
TULLE_API int tulle_group_create_per_shepherd(tulle_group** out, size_t most, int policy);
/* At most so many bytes altogether, which tulle_group_spawn_holding() says of each thread; what
 * another form spawns holds its record and a stack of the default size. A thread of the group calls
 * the function itself instead of waiting, so it says what it holds with all that it may call.
 * Errors besides: those of tulle_init(), as it starts the run time if need be. */
TULLE_API int tulle_group_create_bytes(tulle_group** out, size_t most, int policy);
/* Memory for so many depth-first walks, each a chain of at most `levels` nested spawns that hold
 * `bytes_each_level` each: a thread starts only with bytes for all levels that may be below it, and
 * else its spawner, of the group, calls the function. A spawn that is deeper: -EOVERFLOW. -EINVAL
 * besides: no walks, levels or bytes, or more than a size_t of them. */
TULLE_API int tulle_group_create_walks(tulle_group** out, size_t walks, size_t levels,
                                       size_t bytes_each_level, int policy);
/* tulle_group_spawn() of a thread that holds so many bytes. -EINVAL besides: more than all may
 * hold. Groups without a limit by bytes take no notice of them, nor do walks. */
TULLE_API int tulle_group_spawn_holding(tulle_group* group, size_t bytes, void (*function)(void*),
                                        void* argument);
/* -EAGAIN: TULLE_CREATE, and the group is full or there is no memory. Without memory the other
 * policies call the function. */
TULLE_API int tulle_group_spawn(tulle_group* group, void (*function)(void*), void* argument);
/* Spawns with a result: the word at `result` is empty from now on, and full when the thread has
 * written what the function returned (tulle_feb_read_ff() waits for that). `shepherd`: where it
 * runs, -1: anywhere. The timed form waits for a permit until the time is up, whatever the policy
 * is: -ETIMEDOUT, or -EBUSY with a time-out of 0, with nothing done. -EINVAL besides: no such
 * shepherd; -ENOMEM, with nothing done. */
TULLE_API int tulle_group_spawn_into(tulle_group* group, int shepherd, uint64_t (*function)(void*),
                                     void* argument, uint64_t* result);
TULLE_API int tulle_group_timed_spawn_into(tulle_group* group, int shepherd,
                                           uint64_t (*function)(void*), void* argument,
                                           uint64_t* result, uint64_t timeout_ns);
/* Waits for all threads of the group, and the records; not by a thread of the group. The group can
 * be used again.
 * Memory ordering: all that the threads did happens before the return. */
TULLE_API int tulle_group_join(tulle_group* group);
/* Joins and frees it. */
TULLE_API int tulle_group_destroy(tulle_group* group);
/* Threads alive, without the records. */
TULLE_API size_t tulle_group_size(const tulle_group* group);
/* Bytes that they hold or have reserved; 0 without a limit by bytes. */
TULLE_API size_t tulle_group_held(const tulle_group* group);

#ifdef __cplusplus
}
#endif

#endif

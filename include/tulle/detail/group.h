/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of <tulle.h> about groups of threads of which at most so many are alive. Included by it. */
#ifndef TULLE_DETAIL_GROUP_H
#define TULLE_DETAIL_GROUP_H

#include <tulle/detail/visibility.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What tulle_group_spawn() does in a group that has as many threads alive as it may. */
typedef enum tulle_when_full {
    TULLE_RUN_INLINE, /* calls the function itself */
    TULLE_CREATE,     /* creates a thread or returns -EAGAIN; never waits */
    TULLE_RECORD,     /* keeps it as a record, until a thread of the group ends; a thread of the group calls the function itself */
    TULLE_BLOCK       /* waits until a thread of the group ends; a thread of the group lends its place to the new one until that ends */
} tulle_when_full;

typedef struct tulle_group tulle_group;

/* -EINVAL: `most` is 0, or no such policy; -ENOMEM. */
TULLE_API int tulle_group_create(tulle_group** out, size_t most, int policy);
/* -EAGAIN: TULLE_CREATE, and the group is full or there is no memory. Without memory the other policies call the function. */
TULLE_API int tulle_group_spawn(tulle_group* group, void (*function)(void*), void* argument);
/* Waits for all threads of the group, and the records; not by a thread of the group. The group can be used again.
 * Memory ordering: all that the threads did happens before the return. */
TULLE_API int tulle_group_join(tulle_group* group);
/* Joins and frees it. */
TULLE_API int tulle_group_destroy(tulle_group* group);
/* Threads alive, without the records. */
TULLE_API size_t tulle_group_size(const tulle_group* group);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations of places (<tulle/team.hpp>) in C, for C11 and C++20. Each member's place
 * calls the same operations of a team in the same order, one at a time, with as many bytes; a rank
 * is a position in the team. Pointers may be null where there are no bytes. With one place all of
 * this works, too.
 * Memory ordering: what happens before a member sends happens before the return at those that
 * receive from it, directly or through others.
 * -EINVAL: a null pointer, no such rank, more bytes than PTRDIFF_MAX, with nothing done; or another
 * member has given another number of bytes. -EPERM: the caller's place is not a member, or the team
 * was destroyed. -EHOSTDOWN: what was wanted of a member that has died. -EREMOTEIO: the operation
 * has failed at another member; the team can be used on. -ENOMEM. */
#ifndef TULLE_DETAIL_TEAM_H
#define TULLE_DETAIL_TEAM_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies name the same team; its bytes travel. */
typedef struct {
    uint64_t name; /* 0: of all places */
} tulle_team_t;

/* The team that is always there, with the places by their numbers. */
#define TULLE_TEAM_OF_ALL_PLACES                                                                   \
    { 0 }

/* These places, in this order; any place may create it. -EINVAL: none, no such place, or one of
 * them twice; -EHOSTDOWN: one of them has died. */
TULLE_API int tulle_team_create(tulle_team_t* out, const int* members, int count);
/* No member may be using it. Not the team of all places: -EINVAL. */
TULLE_API int tulle_team_destroy(tulle_team_t team);

/* How many members it has, the rank of the caller's place, and the place of a rank. */
TULLE_API int tulle_team_size(tulle_team_t team);
TULLE_API int tulle_team_rank(tulle_team_t team); /* of the caller's place */
TULLE_API int tulle_team_place(tulle_team_t team, int rank);

/* --- collective ------------------------------------------------------------------------------- */

/* Returns when all members have called it. */
TULLE_API int tulle_team_barrier(tulle_team_t team);
/* The root's value replaces those of the others. */
TULLE_API int tulle_team_broadcast(tulle_team_t team, void* value, size_t size, int root);

/* Combines what follows in the order of ranks with what is there; associative. Both are aligned for
 * any object. An exception of C++ that leaves it is an error of the operation. */
typedef void tulle_team_combine_t(void* into, const void* other);
/* The values of all, combined in the order of ranks, replace the root's; those of the others stay.
 */
TULLE_API int tulle_team_reduce(tulle_team_t team, void* value, size_t size,
                                tulle_team_combine_t* combine, int root);
/* They replace those of all. */
TULLE_API int tulle_team_allreduce(tulle_team_t team, void* value, size_t size,
                                   tulle_team_combine_t* combine);

/* `all`: a value of `size` bytes of each member, by ranks. Where only the root has one it may be
 * null elsewhere. */
TULLE_API int tulle_team_gather(tulle_team_t team, const void* value, size_t size, void* all,
                                int root);
TULLE_API int tulle_team_all_gather(tulle_team_t team, const void* value, size_t size, void* all);
TULLE_API int tulle_team_scatter(tulle_team_t team, const void* all, void* value, size_t size,
                                 int root);
/* `from`: a value for each; `to`: what the others had for this one. They may be the same. */
TULLE_API int tulle_team_all_to_all(tulle_team_t team, const void* from, void* to, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of <tulle.h> about where threads run. Included by it. Shepherds are numbered from 0 to
 * tulle_shepherd_count() - 1; -EINVAL: another
 * number. Each function starts the run time if need be; errors besides: those of tulle_init(). */
#ifndef TULLE_DETAIL_SHEPHERD_H
#define TULLE_DETAIL_SHEPHERD_H

#include <tulle/detail/visibility.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0: the same shepherd. Otherwise as the firmware tells of their NUMA nodes: 10 in the same node,
 * more for others. */
TULLE_API int tulle_shepherd_distance(int from, int to);
/* Writes at most `capacity` of the other shepherds, the nearest first; how many others there are.
 */
TULLE_API int tulle_nearest_shepherds(int from, int* out, size_t capacity);
/* A shepherd on the NUMA node of the page of this address, for tulle_attr; -1: not known, or no
 * worker runs there. */
TULLE_API int tulle_shepherd_of(const void* address);

/* The NUMA node of its workers; -1: the system does not tell. */
TULLE_API int tulle_node_of_shepherd(int index);

/* Where the caller is. */
typedef struct {
    int place;    /* <tulle/c/place.h> */
    int shepherd; /* -1: on an OS thread that is no worker */
    int worker;   /* likewise */
    int cpu;      /* number of the operating system */
    int node;     /* of memory that is near; -1: the system does not tell */
} tulle_location_t;
/* 0, also on an OS thread that is no worker. Starts the run time if need be. */
TULLE_API int tulle_get_location(tulle_location_t* out);

/* Shepherds of all places that run threads: of one place, 0 or more. -EINVAL: no such place;
 * -EOPNOTSUPP: it has memory only; -EHOSTDOWN: it has died. */
TULLE_API int tulle_shepherd_count_at(int place);
/* As tulle_shepherd_distance() at one place; 256 more at another place of this host, 512 on another
 * host. Errors besides: those of tulle_shepherd_count_at(). */
TULLE_API int tulle_global_shepherd_distance(int from_place, int from, int to_place, int to);

/* From now on the caller runs on workers of this shepherd only, and does so at the return; -1:
 * anywhere.
 * -EPERM: the caller is an OS thread, or runs on the one that initialised the run time. */
TULLE_API int tulle_migrate_to(int shepherd);

/* A worker that is disabled finishes what it runs until that waits, ends, or yields a while, and
 * sleeps until it is enabled; so do all workers of a disabled shepherd, whose threads run elsewhere
 * meanwhile. -EINVAL: none of that number; -EPERM: worker 0, or its shepherd; -EBUSY: the run time
 * is ending. */
TULLE_API int tulle_disable_worker(int index);
TULLE_API int tulle_enable_worker(int index);
TULLE_API int tulle_disable_shepherd(int index);
TULLE_API int tulle_enable_shepherd(int index);
/* 1: it has a worker that may run threads; 0: none. */
TULLE_API int tulle_is_enabled_shepherd(int index);

#ifdef __cplusplus
}
#endif

#endif

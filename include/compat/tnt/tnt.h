/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for TNT (TiNy Threads), on Tulle: threads, memory, mutexes and barriers of all places,
 * with names and parameters close to those of POSIX threads. `tulle run -n 4 PROG` starts four
 * nodes. For C11 and C++20. docs/compat/tnt.md tells what differs.
 * Functions return 0 or an errno value, unless said otherwise. Variables of the program are those
 * of one node; what threads of several nodes share lies in memory of tnt_malloc, or travels as a
 * value: handles of threads, mutexes and barriers mean the same at all nodes.
 * Source: Ye, Pavel, Landwehr, Gao: TiNy Threads on BlueGene/P (2009). */
#ifndef TULLE_COMPAT_TNT_H
#define TULLE_COMPAT_TNT_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t tnt_t;         /* a thread; never 0 */
typedef uint64_t tnt_mutex_t;   /* a mutex, managed at one of the nodes */
typedef uint64_t tnt_barrier_t; /* a barrier, likewise */

/* Starts all nodes, with so many bytes of shared memory together; 0: as TULLE_GLOBAL_MEMORY says.
 * First thing in main, which goes on at node 0. EALREADY;
 * EINVAL: too much or too little. */
TULLE_API int tnt_init(size_t shared_bytes);
TULLE_API int tnt_nodes(void);
TULLE_API int tnt_node(void); /* the caller's */

/* --- threads ---------------------------------------------------------------------------------- */

/* Where tnt_create starts threads: in turn; at random; where the fewest are, by a table at node 0;
 * of two at random, where fewer are. */
enum { TNT_ROUND_ROBIN, TNT_RANDOM, TNT_LEAST_LOADED, TNT_TWO_CHOICES };
/* For threads that the caller's node creates from now on. At the start:
 * TNT_PLACEMENT=round_robin|random|least_loaded|two_choices. EINVAL. */
TULLE_API int tnt_set_placement(int policy);
TULLE_API int tnt_placement(void);

/* EINVAL: null; ENOENT: the function is in no program or library; EAGAIN: no memory. */
TULLE_API int tnt_create(tnt_t* thread, void* (*function)(void*), void* argument);
/* At one node. EINVAL: there is none. */
TULLE_API int tnt_create_at(tnt_t* thread, int node, void* (*function)(void*), void* argument);
/* Once for each thread that is not detached. ESRCH: there is no such thread; EDEADLK: the caller
 * itself; EINVAL: detached, or joined by another one. */
TULLE_API int tnt_join(tnt_t thread, void** result);
TULLE_API int tnt_detach(tnt_t thread);
/* Ends the calling thread, by an exception that must not be caught. In another thread than one of
 * tnt_create: ends the program. */
TULLE_API void tnt_exit(void* result) __attribute__((noreturn));
TULLE_API tnt_t tnt_self(void); /* 0: not made by tnt_create */
TULLE_API int tnt_node_of(tnt_t thread);

/* --- shared memory: addresses mean the same at all nodes; <tulle/c/global_memory.h> has more -- */

TULLE_API void* tnt_malloc(size_t size); /* null: errno says why */
TULLE_API void* tnt_calloc(size_t count, size_t size);
TULLE_API int
tnt_free(void* address); /* EINVAL: freed already, or not the beginning; EFAULT: no shared memory */
/* May span nodes. EFAULT. */
TULLE_API int tnt_read(void* to, const void* shared, size_t size);
TULLE_API int tnt_write(void* shared, const void* from, size_t size);

/* --- mutexes and barriers: each is served by a manager at one node, in turn ------------------- */

TULLE_API int tnt_mutex_init(tnt_mutex_t* mutex);
TULLE_API int tnt_mutex_lock(const tnt_mutex_t* mutex);    /* EINVAL: there is none */
TULLE_API int tnt_mutex_trylock(const tnt_mutex_t* mutex); /* EBUSY */
TULLE_API int tnt_mutex_unlock(const tnt_mutex_t* mutex);  /* EPERM: it is not locked */
TULLE_API int tnt_mutex_destroy(const tnt_mutex_t* mutex); /* EBUSY: it is locked */

enum { TNT_BARRIER_SERIAL_THREAD = -1 };
TULLE_API int tnt_barrier_init(tnt_barrier_t* barrier, unsigned threads); /* EINVAL: none */
/* Returns when so many wait; TNT_BARRIER_SERIAL_THREAD in one of them. */
TULLE_API int tnt_barrier_wait(const tnt_barrier_t* barrier);
TULLE_API int tnt_barrier_destroy(const tnt_barrier_t* barrier); /* EBUSY: somebody waits */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Tulle for C (C11), and for other languages: the same powers as <tulle/tulle.hpp>.
 *
 * Every function may be called by any thread of the process; the first use starts the run time.
 * Errors are returned as negative errno
 * values; nothing is printed. A null pointer or a value that makes no sense is -EINVAL. */
#ifndef TULLE_H
#define TULLE_H

#include <tulle/c/activity.h>
#include <tulle/c/atomic_block.h>
#include <tulle/c/cancel.h>
#include <tulle/c/channel.h>
#include <tulle/c/clock.h>
#include <tulle/c/coherent_memory.h>
#include <tulle/c/feb.h>
#include <tulle/c/global_memory.h>
#include <tulle/c/global_sync.h>
#include <tulle/c/group.h>
#include <tulle/c/io.h>
#include <tulle/c/locks.h>
#include <tulle/c/loop.h>
#include <tulle/c/phases.h>
#include <tulle/c/place.h>
#include <tulle/c/place_local.h>
#include <tulle/c/shepherd.h>
#include <tulle/c/sync.h>
#include <tulle/c/team.h>
#include <tulle/c/version.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the run time ----------------------------------------------------------------------------- */

/* Zero in a field: what the environment says, else the default. */
typedef struct tulle_options {
    /* OS threads that run threads; 0: one for each processor that this process may use */
    int workers;
    size_t stack_size; /* bytes of a thread's own stack */
} tulle_options;

/* Starts the workers; the caller becomes worker 0. Null: all defaults. -EALREADY: running; -ENOMEM;
 * -EAGAIN: no OS threads. */
TULLE_API int tulle_init(const tulle_options* options);
/* Ends them. -EBUSY: threads are alive, nothing was ended; -EPERM: not the thread that initialised;
 * -EINVAL: not running. */
TULLE_API int tulle_finalize(void);
TULLE_API int tulle_is_initialized(void);
/* Human-readable: which threads are alive, in a line. Copies at most `size` bytes, terminated; the
 * length of the whole line. -ENOMEM. */
TULLE_API int tulle_live_threads(char* buffer, size_t size);
/* An option by name, before the start (`tulle info` lists them). -EINVAL: unknown, or no such
 * value; -EALREADY: running. */
TULLE_API int tulle_set_option(const char* name, const char* value);
TULLE_API int tulle_worker_count(void);
TULLE_API int tulle_max_workers(void); /* fixed at the start: the option max_workers */
TULLE_API int tulle_worker_slots(
    void); /* indices of workers are below it: the options max_workers and max_substitutes */
/* While threads run; 0: as the affinity mask and the CPU quota say now. Returns at once: workers
 * that are too many finish what they run.
 * -EINVAL: not from 0 to tulle_max_workers(); -ENOMEM; -EAGAIN: no OS threads; -EBUSY: the run time
 * is ending. Not on a compact stack. */
TULLE_API int tulle_set_workers(int workers);
/* What the program wants of the processors that it shares with others (the option share_cpus);
 * `most` 0: as many as there may be workers.
 * -EINVAL: not 1 <= least <= most <= tulle_max_workers(), or the weight is not from 1 to 1000;
 * -ENOTSUP: it shares none; -ENOMEM; errors of open(2) and write(2). Not on a compact stack. */
TULLE_API int tulle_cpus_want(int least, int most, int weight);
/* Writes at most `capacity` of the numbers of those that it has, ascending; how many these are.
 * -EINVAL; -ENOMEM. */
TULLE_API int tulle_cpus(int* out, size_t capacity);
TULLE_API int tulle_shepherd_count(void);
TULLE_API const char* tulle_version(void);

/* --- fork and join: the cheapest threads ------------------------------------------------------ */

/* Two words, to be kept in registers; valid until joined, in the function that forked. */
typedef struct tulle_child {
    void* deque;  /* where it was forked */
    void* record; /* null: the fork was refused */
} tulle_child;

/* Starts function(argument). A null function gives a child whose join returns -EINVAL. */
TULLE_API tulle_child tulle_fork(void (*function)(void*), void* argument);
/* Waits for it; call it once, by the thread that forked. Joining in reverse order of forking is the
 * fast case.
 * Memory ordering: all that the child did happens before the return. */
TULLE_API int tulle_join(tulle_child child);

/* --- threads as objects ----------------------------------------------------------------------- */

/* A thread that tulle_spawn() has started. */
typedef struct tulle_thread tulle_thread;

/* Initialise with TULLE_ATTR_INIT. */
typedef struct tulle_attr {
    /* Bytes, rounded up to a power of two from 16384; 0: the default. 1024: compact, without a
     * guard; but 16384 where the program is not linked with -z now, or the library not optimised:
     * their frames need more. */
    size_t stack_size;
    int shepherd; /* runs only on workers of this shepherd; -1: anywhere */
    /* Nonzero: runs at once; the spawner goes on later, perhaps on another worker. */
    int child_first;
    const char* name; /* copied; null: none */
} tulle_attr;
/* clang-format off */
/* Like any other thread. */
#define TULLE_ATTR_INIT {0, -1, 0, NULL}
/* clang-format on */

/* Starts function(argument). `out` null: detached. `attr` null: TULLE_ATTR_INIT. -ENOMEM; -EAGAIN:
 * as the first use, the start of the run time found no OS threads. */
TULLE_API int tulle_spawn(tulle_thread** out, const tulle_attr* attr, void* (*function)(void*),
                          void* argument);
/* Waits for the end, stores what the function returned (`result` null: not wanted) and frees the
 * handle.
 * -ESRCH: in a child process, the thread was left behind in the parent. */
TULLE_API int tulle_thread_join(tulle_thread* thread, void** result);
/* Joins if the thread has ended; else -EBUSY, and the handle stays. */
TULLE_API int tulle_thread_try_join(tulle_thread* thread, void** result);
/* Joins, waiting for at most `timeout_ns` nanoseconds; then -ETIMEDOUT, and the handle stays. */
TULLE_API int tulle_thread_timed_join(tulle_thread* thread, void** result, uint64_t timeout_ns);
/* Joins within a limit (<tulle/c/cancel.h>); then -ETIMEDOUT or -ECANCELED. */
TULLE_API int tulle_thread_join_within(tulle_thread* thread, void** result,
                                       const tulle_limit_t* limit);
/* Nobody will join it; frees the handle. */
TULLE_API int tulle_thread_detach(tulle_thread* thread);
TULLE_API uint64_t tulle_thread_id(const tulle_thread* thread); /* 0: null */

/* --- the calling thread ----------------------------------------------------------------------- */

/* Lets other ready threads of the worker run first, or sleeps meanwhile. */
TULLE_API int tulle_yield(void);
TULLE_API int tulle_sleep_ns(uint64_t nanoseconds);
/* In a deterministic run another thread may go first; otherwise nothing. Between accesses to atomic
 * variables whose order matters. */
TULLE_API int tulle_schedule_point(void);
TULLE_API uint64_t tulle_self_id(void);
/* -ENOMEM. */
TULLE_API int tulle_set_name(const char* name);
/* Copies at most `size` bytes, terminated; the length of the whole name. */
TULLE_API int tulle_get_name(char* buffer, size_t size);
TULLE_API int tulle_worker_index(void);   /* -1: the OS thread is no worker */
TULLE_API int tulle_shepherd_index(void); /* likewise */

/* --- values for each thread, and for each worker ---------------------------------------------- */

/* As in POSIX: threads made by tulle_spawn, and OS threads, have values of their own. A forked
 * child that nobody steals is a call in its parent and has its parent's; a stolen one has its own,
 * empty at its start. At the end of a thread its destructors are called for values
 * that are not null, by that thread, in at most four rounds; nothing is called at the end of the
 * process. */
typedef uint64_t tulle_key; /* 0 is no key */

/* -EAGAIN: there are 1024. `destructor` null: none. */
TULLE_API int tulle_key_create(tulle_key* out, void (*destructor)(void*));
/* The values are forgotten, no destructor is called. -EINVAL: no key. */
TULLE_API int tulle_key_delete(tulle_key key);
/* -EINVAL: no key; -ENOMEM. */
TULLE_API int tulle_set_specific(tulle_key key, const void* value);
/* Null: none was stored, or no key. */
TULLE_API void* tulle_get_specific(tulle_key key);

/* A value for each worker and for each OS thread that Tulle has not made, on cache lines of its
 * own. Threads are not preempted: between two calls that may wait, nobody else uses the caller's
 * value; afterwards ask again. */
typedef struct tulle_worker_local tulle_worker_local;
/* No further value. */
#define TULLE_NO_INDEX ((size_t)-1)

/* Values have `size` bytes, zero, then init(value); both functions may be null. -ENOMEM. */
TULLE_API int tulle_worker_local_create(tulle_worker_local** out, size_t size, void (*init)(void*),
                                        void (*destroy)(void*));
/* Destroys all values. Nobody may use it meanwhile. */
TULLE_API int tulle_worker_local_destroy(tulle_worker_local* local);
/* The caller's value, made at the first use. Null: no memory. */
TULLE_API void* tulle_worker_local_get(tulle_worker_local* local);
/* To visit all values that have been made: the first index from `index` on that has one, or
 * TULLE_NO_INDEX. */
TULLE_API size_t tulle_worker_local_next(const tulle_worker_local* local, size_t index);
/* Null: no value was made there. */
TULLE_API void* tulle_worker_local_at(const tulle_worker_local* local, size_t index);

#ifdef __cplusplus
}
#endif

#endif

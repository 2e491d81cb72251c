/* SPDX-License-Identifier: Apache-2.0 */
/* What the macros of parmacs.m4 become; programs use those. A PARMACS program runs as several
 * processes, each with variables of its own, that share the memory of G_MALLOC: `tulle run -n 4
 * PROG` starts main and three that CREATE may take. For C11 and C++20;
 * tulle_parmacs(7) has the macros.
 * Contexts: any thread of Tulle in a process, main's among them. A thread that waits does not keep
 * others of its process from running. Errors end the program with a message, as a macro
 * has no result: before MAIN_INITENV; an object that was not initialised; no memory.
 * Source: the macros of the Argonne National Laboratory as SPLASH-2 uses them; CREATE as in DSZOOM,
 * where processes get the variables of their creator. */
#ifndef TULLE_COMPAT_PARMACS_H
#define TULLE_COMPAT_PARMACS_H

#include <tulle/detail/visibility.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects lie in shared memory; these name them in all processes that have a copy. Zero, as at
 * first, names none. */
typedef struct {
    void* tulle_shared;
} tulle_parmacs_lock_t;
typedef struct {
    void* tulle_shared;
} tulle_parmacs_barrier_t;
typedef struct {
    void* tulle_shared;
} tulle_parmacs_subscript_t;
typedef struct {
    void* tulle_shared;
} tulle_parmacs_event_t;
/* Programs declare these in headers that come before the environment. */
typedef void* tulle_parmacs_cond_t;

/* --- the program ------------------------------------------------------------------------------ */

/* Before main, of which these are the arguments: the program begins as several processes. It
 * returns in main's; the others serve, and end with that one. MAIN_ENV sees to it. */
TULLE_API void tulle_parmacs_before_main(char* const* arguments);
/* Errors: processes that do not reach each other's memory, or have the program at another address;
 * code in the program whose variables must not be copied. */
TULLE_API void tulle_parmacs_begin(void);
/* By main's process, which goes on. Errors: created processes that nobody has waited for. */
TULLE_API void tulle_parmacs_end(void);
/* Microseconds, of one clock for all processes of a host. */
TULLE_API unsigned long tulle_parmacs_clock(void);
/* Calls the function in a process that runs nothing else, in turn, with a copy of the caller's
 * global variables as they are now: not of its heap, nor of files. The process ends when the
 * function returns. Errors: no process is free; a function of a shared library.
 * Memory ordering: what happens before the call happens before the function. */
TULLE_API void tulle_parmacs_create(void (*function)(void));
/* Calls the function in so many processes: those that tulle_parmacs_create takes, and the caller.
 * They take themselves for threads, so all share one copy of the global variables from the first
 * such call on, if main's process is alone then, and unless TULLE_SHARE_GLOBALS=off. Errors:
 * as of tulle_parmacs_create; variables cannot be shared. */
TULLE_API void tulle_parmacs_create_all(void (*function)(void), int processes);
/* Until so many that the caller has created have ended; after tulle_parmacs_create_all the caller
   may be counted. Errors: there are not so many.
   Memory ordering: what they did happens before the return. */
TULLE_API void tulle_parmacs_wait_for_end(int processes);
/* Waits until so many call it; process number 0 then starts the time, which ends with WAIT_FOR_END
 * and is printed by MAIN_END. */
TULLE_API void tulle_parmacs_start_time(int number, int processes);

/* --- shared memory: the same addresses in all processes; also before MAIN_INITENV ------------- */

/* Null: there is not so much, which a message says, too. */
TULLE_API void* tulle_parmacs_malloc(size_t size);
TULLE_API void
tulle_parmacs_free(void* address); /* null: nothing. Errors: freed already, or not the beginning */

/* --- synchronisation: `init` makes `count` objects, from `first` on --------------------------- */
/* Memory ordering: what happens before an unlock, a barrier or the change of an event happens
 * before what it lets go on. */

TULLE_API void tulle_parmacs_lock_init(tulle_parmacs_lock_t* first, int count);
TULLE_API void tulle_parmacs_lock(tulle_parmacs_lock_t lock);
TULLE_API void tulle_parmacs_unlock(tulle_parmacs_lock_t lock); /* errors: nobody holds it */

TULLE_API void tulle_parmacs_barrier_init(tulle_parmacs_barrier_t* first, int count);
TULLE_API void tulle_parmacs_barrier(tulle_parmacs_barrier_t barrier, int processes);

/* The next one from 0 to `most`; -1: there is none, and so many processes know it. Then it begins
 * with 0 again. */
TULLE_API void tulle_parmacs_subscript_init(tulle_parmacs_subscript_t* first, int count);
TULLE_API int tulle_parmacs_subscript(tulle_parmacs_subscript_t loop, int most, int processes);

TULLE_API void tulle_parmacs_event_init(tulle_parmacs_event_t* first, int count); /* cleared */
TULLE_API void
tulle_parmacs_event_set(tulle_parmacs_event_t event); /* all that wait for it go on */
TULLE_API void tulle_parmacs_event_clear(tulle_parmacs_event_t event);
TULLE_API void tulle_parmacs_event_wait(tulle_parmacs_event_t event); /* until it is set */
TULLE_API void tulle_parmacs_event_take(
    tulle_parmacs_event_t event); /* until it is set; one of those that wait clears it */
TULLE_API void tulle_parmacs_event_announce(
    tulle_parmacs_event_t event); /* until it is cleared; one of those that wait sets it */

TULLE_API void tulle_parmacs_cond_init(tulle_parmacs_cond_t* first, int count);
/* Unlocks, waits, and locks again. Errors: nobody holds the lock. */
TULLE_API void tulle_parmacs_cond_wait(tulle_parmacs_cond_t condition, tulle_parmacs_lock_t lock);
TULLE_API void tulle_parmacs_cond_signal(tulle_parmacs_cond_t condition);    /* one that waits */
TULLE_API void tulle_parmacs_cond_broadcast(tulle_parmacs_cond_t condition); /* all that wait */

/* Fences as of C11 (atomic_thread_fence), for variables that a program synchronises by. */
TULLE_API void tulle_parmacs_acquire_fence(void);
TULLE_API void tulle_parmacs_release_fence(void);
TULLE_API void tulle_parmacs_full_fence(void);

#ifdef __cplusplus
}
#endif

#endif

/* By MAIN_ENV, which may come after an EXTERN_ENV. */
#if defined(TULLE_PARMACS_MAIN) && !defined(TULLE_PARMACS_HAS_CONSTRUCTOR)
#define TULLE_PARMACS_HAS_CONSTRUCTOR
static __attribute__((constructor)) void tulle_parmacs_constructor(int count, char** arguments) {
    (void)count;
    tulle_parmacs_before_main(arguments);
}
#endif

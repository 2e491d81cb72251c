/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for MassiveThreads 1.00, on Tulle. For C11 and C++; docs/compat/myth.md tells what each
 * function does here and what differs.
 *
 * The first call starts the run time, whose workers MYTH_NUM_WORKERS counts. Functions return 0 or
 * an errno value unless said otherwise; a null pointer, or a value that makes no sense, is EINVAL.
 * Objects are initialised by their initialiser, their init function or by zeros, and are not
 * copied. Points in time are those of CLOCK_REALTIME. */
#ifndef MYTH_H_
#define MYTH_H_

#include "myth_sleep_queue.h"
#include "myth_spinlock.h"

#include <tulle/c/locks.h>
#include <tulle/c/sync.h>
#include <tulle/detail/visibility.h>

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_thread* myth_thread_t;
typedef void* (*myth_func_t)(void*);

/* --- start and end ---------------------------------------------------------------------------- */

typedef struct {
    size_t stacksize;
    size_t guardsize;
    int n_workers;
    int bind_workers;
    int child_first;
    int initialized;
} myth_globalattr_t;

/* 1, also when it runs already. 0: it cannot start, and errno says why. */
TULLE_API int myth_init(void);
TULLE_API int myth_init_ex(myth_globalattr_t* attr);
/* By the thread that has started it, when all threads have ended. A later call starts it again. */
TULLE_API void myth_fini(void);

TULLE_API int myth_globalattr_init(myth_globalattr_t* attr);
TULLE_API int myth_globalattr_destroy(myth_globalattr_t* attr);
/* `attr` null: of the next start that is not told otherwise. */
TULLE_API int myth_globalattr_get_stacksize(myth_globalattr_t* attr, size_t* stacksize);
TULLE_API int myth_globalattr_set_stacksize(myth_globalattr_t* attr, size_t stacksize);
TULLE_API int myth_globalattr_get_guardsize(myth_globalattr_t* attr, size_t* guardsize);
TULLE_API int myth_globalattr_set_guardsize(myth_globalattr_t* attr, size_t guardsize);
TULLE_API int myth_globalattr_get_n_workers(myth_globalattr_t* attr, size_t* n_workers);
TULLE_API int myth_globalattr_set_n_workers(myth_globalattr_t* attr, size_t n_workers);
TULLE_API int myth_globalattr_get_bind_workers(myth_globalattr_t* attr, int* bind_workers);
TULLE_API int myth_globalattr_set_bind_workers(myth_globalattr_t* attr, int bind_workers);
TULLE_API int myth_globalattr_get_child_first(myth_globalattr_t* attr, int* child_first);
TULLE_API int myth_globalattr_set_child_first(myth_globalattr_t* attr, int child_first);

/* --- threads ---------------------------------------------------------------------------------- */

typedef struct myth_thread_attr {
    void* stackaddr; /* ignored: stacks are the library's */
    size_t stacksize;
    size_t guardsize;
    int detachstate;
    int child_first;
    size_t custom_data_size; /* so many bytes are copied; they are the thread's hint */
    void* custom_data;
} myth_thread_attr_t;

/* Null: errno says why. Unless told otherwise the new thread runs before its creator goes on. */
TULLE_API myth_thread_t myth_create(myth_func_t func, void* arg);
/* `id` null: nobody will join it. `attr` null: as myth_thread_attr_init says. ENOMEM, EAGAIN. */
TULLE_API int myth_create_ex(myth_thread_t* id, myth_thread_attr_t* attr, myth_func_t func,
                             void* arg);
/* A thread that begins when it has been given to a run queue (myth_wsapi_runqueue_push). */
TULLE_API myth_thread_t myth_create_nosched(myth_func_t func, void* arg, myth_thread_attr_t* attr);
/* By an exception that must not be caught. In another thread than one of this interface it ends the
 * program with a message. */
TULLE_API void myth_exit(void* ret) __attribute__((noreturn));
/* Once for each thread that is not detached. `result` null: not wanted. EDEADLK: the caller itself.
 */
TULLE_API int myth_join(myth_thread_t th, void** result);
TULLE_API int myth_tryjoin(myth_thread_t th, void** result); /* EBUSY: it runs */
TULLE_API int myth_timedjoin(myth_thread_t th, void** result,
                             const struct timespec* abstime); /* EBUSY: it still runs */
TULLE_API int myth_detach(myth_thread_t th);
TULLE_API int myth_is_myth_worker(void); /* 1: the OS thread is a worker */
TULLE_API myth_thread_t myth_self(void); /* of any thread of the process; null: no memory */
TULLE_API int myth_equal(myth_thread_t t1, myth_thread_t t2);

/* Threads that each call a function with an argument of their own: the arrays are given by their
 * first elements and strides in bytes. Returns when all have ended. `ids`, `attrs` and `results`
 * may be null. What cannot be created does not run, and the first error is returned. */
TULLE_API int myth_create_join_many_ex(myth_thread_t* ids, myth_thread_attr_t* attrs,
                                       myth_func_t func, void* args, void* results,
                                       size_t id_stride, size_t attr_stride, size_t arg_stride,
                                       size_t result_stride, long nthreads);
TULLE_API int myth_create_join_various_ex(myth_thread_t* ids, myth_thread_attr_t* attrs,
                                          myth_func_t* funcs, void* args, void* results,
                                          size_t id_stride, size_t attr_stride, size_t func_stride,
                                          size_t arg_stride, size_t result_stride, long nthreads);

TULLE_API int myth_thread_attr_init(myth_thread_attr_t* attr);
TULLE_API int myth_thread_attr_getdetachstate(const myth_thread_attr_t* attr, int* detachstate);
TULLE_API int myth_thread_attr_setdetachstate(myth_thread_attr_t* attr, int detachstate);
TULLE_API int myth_thread_attr_getguardsize(const myth_thread_attr_t* attr, size_t* guardsize);
TULLE_API int myth_thread_attr_setguardsize(myth_thread_attr_t* attr, size_t guardsize);
TULLE_API int myth_thread_attr_getstacksize(const myth_thread_attr_t* attr, size_t* stacksize);
TULLE_API int myth_thread_attr_setstacksize(myth_thread_attr_t* attr, size_t stacksize);
TULLE_API int myth_thread_attr_getstack(const myth_thread_attr_t* attr, void** stackaddr,
                                        size_t* stacksize);
TULLE_API int myth_thread_attr_setstack(myth_thread_attr_t* attr, void* stackaddr,
                                        size_t stacksize);
TULLE_API int myth_getattr_default_np(myth_thread_attr_t* attr);
TULLE_API int myth_getattr_np(myth_thread_t thread, myth_thread_attr_t* attr);

TULLE_API int myth_get_worker_num(void); /* -1: the OS thread is no worker */
TULLE_API int myth_get_num_workers(void);
TULLE_API int myth_getconcurrency(void);

enum {
    myth_yield_option_half_half = 0,
    myth_yield_option_local_only = 1,
    myth_yield_option_local_first = 2,
    myth_yield_option_steal_only = 3,
    myth_yield_option_steal_first = 4
};
TULLE_API void myth_yield(void);
TULLE_API void myth_yield_ex(int yield_opt); /* all options do the same */
TULLE_API int myth_sched_yield(void);
TULLE_API unsigned int myth_sleep(unsigned int s);
TULLE_API int myth_usleep(unsigned int usec);
TULLE_API int myth_nanosleep(const struct timespec* req, struct timespec* rem);

#define MYTH_CANCEL_ENABLE PTHREAD_CANCEL_ENABLE
#define MYTH_CANCEL_DISABLE PTHREAD_CANCEL_DISABLE
#define MYTH_CANCEL_DEFERRED PTHREAD_CANCEL_DEFERRED
#define MYTH_CANCELED PTHREAD_CANCELED
/* A thread is cancelled where it calls myth_testcancel, and nowhere else; it is then as if it
 * called myth_exit(MYTH_CANCELED). */
TULLE_API int myth_setcancelstate(int state, int* oldstate);
TULLE_API int myth_setcanceltype(int type, int* oldtype); /* EINVAL: not MYTH_CANCEL_DEFERRED */
TULLE_API int myth_cancel(myth_thread_t th);
TULLE_API void myth_testcancel(void);

/* --- once, mutexes ---------------------------------------------------------------------------- */

enum { myth_once_state_init = 0, myth_once_state_in_progress = 1, myth_once_state_completed = 2 };
typedef struct {
    volatile int state;
    tulle_once_t once;
} myth_once_t;
/* clang-format off */
#define MYTH_ONCE_INIT {myth_once_state_init, TULLE_ONCE_INIT}
/* clang-format on */
TULLE_API int myth_once(myth_once_t* once_control, void (*init_routine)(void));

enum {
    MYTH_MUTEX_NORMAL = 0,
    MYTH_MUTEX_ERRORCHECK = 1,
    MYTH_MUTEX_RECURSIVE = 2,
    MYTH_MUTEX_INVALID = 3,
    MYTH_MUTEX_DEFAULT = MYTH_MUTEX_NORMAL
};
typedef struct myth_mutexattr {
    int type;
} myth_mutexattr_t;
typedef struct myth_mutex {
    myth_mutexattr_t attr;
    unsigned int depth; /* of a recursive one */
    uint64_t owner;     /* of one that is not normal */
    tulle_mutex_t lock;
} myth_mutex_t;
/* clang-format off */
#define MYTH_MUTEX_INITIALIZER {{MYTH_MUTEX_DEFAULT}, 0, 0, TULLE_MUTEX_INIT}
/* clang-format on */

TULLE_API int myth_mutex_init(myth_mutex_t* mutex, const myth_mutexattr_t* attr);
TULLE_API int myth_mutex_destroy(myth_mutex_t* mutex); /* EBUSY: held */
TULLE_API int myth_mutex_trylock(myth_mutex_t* mutex); /* EBUSY: held */
/* EDEADLK: the caller holds it, and it is an error-checking one. */
TULLE_API int myth_mutex_lock(myth_mutex_t* mutex);
TULLE_API int myth_mutex_timedlock(myth_mutex_t* mutex, const struct timespec* abstime);
/* EPERM: nobody holds it; of one that is not normal: the caller does not. */
TULLE_API int myth_mutex_unlock(myth_mutex_t* mutex);
TULLE_API int myth_mutexattr_init(myth_mutexattr_t* attr);
TULLE_API int myth_mutexattr_destroy(myth_mutexattr_t* attr);
TULLE_API int myth_mutexattr_gettype(const myth_mutexattr_t* attr, int* type);
TULLE_API int myth_mutexattr_settype(myth_mutexattr_t* attr, int type);

/* --- reader-writer locks ---------------------------------------------------------------------- */

enum {
    MYTH_RWLOCK_PREFER_READER,
    MYTH_RWLOCK_PREFER_WRITER,
    MYTH_RWLOCK_PREFER_WRITER_NONRECURSIVE,
    MYTH_RWLOCK_PREFER_INVALID,
    MYTH_RWLOCK_DEFAULT = MYTH_RWLOCK_PREFER_READER
};
typedef struct myth_rwlockattr {
    int kind; /* kept; readers and writers take turns */
} myth_rwlockattr_t;
typedef struct myth_rwlock {
    tulle_rwlock_t lock;
    myth_rwlockattr_t attr;
} myth_rwlock_t;
/* clang-format off */
#define MYTH_RWLOCK_INITIALIZER {TULLE_RWLOCK_INIT, {MYTH_RWLOCK_DEFAULT}}
/* clang-format on */

TULLE_API int myth_rwlock_init(myth_rwlock_t* rwlock, const myth_rwlockattr_t* attr);
TULLE_API int myth_rwlock_destroy(myth_rwlock_t* rwlock); /* EBUSY: held */
TULLE_API int myth_rwlock_rdlock(myth_rwlock_t* rwlock);
TULLE_API int myth_rwlock_tryrdlock(myth_rwlock_t* rwlock); /* EBUSY */
TULLE_API int myth_rwlock_timedrdlock(myth_rwlock_t* rwlock, const struct timespec* abstime);
TULLE_API int myth_rwlock_wrlock(myth_rwlock_t* rwlock);
TULLE_API int myth_rwlock_trywrlock(myth_rwlock_t* rwlock); /* EBUSY */
TULLE_API int myth_rwlock_timedwrlock(myth_rwlock_t* rwlock, const struct timespec* abstime);
TULLE_API int myth_rwlock_unlock(myth_rwlock_t* rwlock); /* EPERM: nobody holds it */
TULLE_API int myth_rwlockattr_init(myth_rwlockattr_t* attr);
TULLE_API int myth_rwlockattr_destroy(myth_rwlockattr_t* attr);
TULLE_API int myth_rwlockattr_getkind(const myth_rwlockattr_t* attr, int* pref);
TULLE_API int myth_rwlockattr_setkind(myth_rwlockattr_t* attr, int pref);

/* --- conditions ------------------------------------------------------------------------------- */

typedef struct myth_condattr {
    void* unused;
} myth_condattr_t;
typedef struct myth_cond {
    tulle_cond_t cond;
    myth_condattr_t attr;
} myth_cond_t;
/* clang-format off */
#define MYTH_COND_INITIALIZER {TULLE_COND_INIT, {NULL}}
/* clang-format on */

TULLE_API int myth_cond_init(myth_cond_t* cond, const myth_condattr_t* attr);
TULLE_API int myth_cond_destroy(myth_cond_t* cond); /* EBUSY: threads wait */
TULLE_API int myth_cond_signal(myth_cond_t* cond);
TULLE_API int myth_cond_broadcast(myth_cond_t* cond);
/* EPERM: the mutex is not held, or not by the caller where it knows. A recursive mutex is released
 * however often it was locked. */
TULLE_API int myth_cond_wait(myth_cond_t* cond, myth_mutex_t* mutex);
TULLE_API int myth_cond_timedwait(myth_cond_t* cond, myth_mutex_t* mutex,
                                  const struct timespec* abstime);
TULLE_API int myth_condattr_init(myth_condattr_t* attr);
TULLE_API int myth_condattr_destroy(myth_condattr_t* attr);

/* --- barriers, join counters ------------------------------------------------------------------ */

typedef struct myth_barrierattr {
    void* unused;
} myth_barrierattr_t;
typedef struct myth_barrier {
    unsigned int n_threads; /* 0: it has not been initialised */
    myth_barrierattr_t attr;
    tulle_barrier_t barrier;
} myth_barrier_t;
#define MYTH_BARRIER_SERIAL_THREAD 1

TULLE_API int myth_barrier_init(myth_barrier_t* barrier, const myth_barrierattr_t* attr,
                                unsigned int count);
TULLE_API int myth_barrier_destroy(myth_barrier_t* barrier); /* EBUSY: threads wait */
/* MYTH_BARRIER_SERIAL_THREAD for one of the threads, the last that came. */
TULLE_API int myth_barrier_wait(myth_barrier_t* barrier);
TULLE_API int myth_barrierattr_init(myth_barrierattr_t* attr);
TULLE_API int myth_barrierattr_destroy(myth_barrierattr_t* attr);

typedef struct myth_join_counterattr {
    void* unused;
} myth_join_counterattr_t;
typedef struct myth_join_counter {
    tulle_latch_t latch;
    myth_join_counterattr_t attr;
} myth_join_counter_t;

TULLE_API int myth_join_counter_init(myth_join_counter_t* jc, const myth_join_counterattr_t* attr,
                                     int val);
TULLE_API int myth_join_counter_wait(myth_join_counter_t* jc);
TULLE_API int myth_join_counter_dec(myth_join_counter_t* jc); /* EINVAL: it is zero already */
TULLE_API int myth_join_counterattr_init(myth_join_counterattr_t* attr);
TULLE_API int myth_join_counterattr_destroy(myth_join_counterattr_t* attr);

/* --- full/empty locks, unconditional waits ---------------------------------------------------- */

typedef struct myth_felockattr {
    void* unused;
} myth_felockattr_t;
typedef struct myth_felock {
    myth_mutex_t mutex[1];
    myth_cond_t cond[2]; /* that the status becomes 0, or 1 */
    int status;
    myth_felockattr_t attr;
} myth_felock_t;

TULLE_API int myth_felock_init(myth_felock_t* fe, const myth_felockattr_t* attr);
TULLE_API int myth_felock_destroy(myth_felock_t* fe);
TULLE_API int myth_felock_lock(myth_felock_t* fe);
TULLE_API int myth_felock_unlock(myth_felock_t* fe);
/* A status is 0 or 1. */
TULLE_API int myth_felock_wait_and_lock(myth_felock_t* fe, int status_to_wait);
TULLE_API int myth_felock_mark_and_signal(myth_felock_t* fe, int status_to_signal);
TULLE_API int myth_felock_status(myth_felock_t* fe);
TULLE_API int myth_felockattr_init(myth_felockattr_t* attr);
TULLE_API int myth_felockattr_destroy(myth_felockattr_t* attr);

typedef struct {
    uintptr_t waiting; /* src/compat/myth/uncond.cpp */
} myth_uncond_t;

TULLE_API int myth_uncond_init(myth_uncond_t* uncond);
TULLE_API int myth_uncond_destroy(myth_uncond_t* uncond); /* EBUSY: a thread waits */
/* One thread at a time. EBUSY: another one waits. */
TULLE_API int myth_uncond_wait(myth_uncond_t* uncond);
/* Wakes the thread that waits; waits until there is one. */
TULLE_API int myth_uncond_signal(myth_uncond_t* uncond);

/* --- values for each thread, and for each worker ---------------------------------------------- */

typedef int myth_key_t;
/* EAGAIN: there are 1024. */
TULLE_API int myth_key_create(myth_key_t* key, void (*destr_function)(void*));
TULLE_API int myth_key_delete(myth_key_t key);
TULLE_API int myth_setspecific(myth_key_t key, const void* data);
TULLE_API void* myth_getspecific(myth_key_t key);

typedef pthread_key_t myth_wls_key_t;
TULLE_API int myth_wls_key_create(myth_wls_key_t* key, void (*destr_function)(void*));
TULLE_API int myth_wls_key_delete(myth_wls_key_t key);
TULLE_API int myth_wls_setspecific(myth_wls_key_t key, const void* data);
TULLE_API void* myth_wls_getspecific(myth_wls_key_t key);

/* --- run queues: of threads that have not begun (docs/compat/myth.md) ------------------------- */

typedef int (*myth_wsapi_decidefn_t)(myth_thread_t th, void* udata);
typedef struct myth_thread* (*myth_steal_func_t)(int rank);

/* The one that has been in the worker's queue for longest, which stays there; null: it is empty.
 * Copies at most *psize bytes of its hint, and says how many. */
TULLE_API myth_thread_t myth_wsapi_runqueue_peek(int victim, void* ptr, size_t* psize);
/* Takes it out, if the function says other than 0 of it or is null; it is the caller's then. */
TULLE_API myth_thread_t myth_wsapi_runqueue_take(int victim, myth_wsapi_decidefn_t decidefn,
                                                 void* udata);
/* Gives a thread to another worker's queue. 1: done. */
TULLE_API int myth_wsapi_runqueue_pass(int target, myth_thread_t th);
/* To the caller's queue, and the youngest of it. */
TULLE_API void myth_wsapi_runqueue_push(myth_thread_t th);
TULLE_API myth_thread_t myth_wsapi_runqueue_pop(void);
/* What a worker calls with its own number when it is to start a thread and its queue is empty. The
 * one before is returned. Null: the one that takes from any other worker. */
TULLE_API myth_steal_func_t myth_wsapi_set_stealfunc(myth_steal_func_t fn);

/* Of the caller if `th` is null. */
TULLE_API size_t myth_wsapi_get_hint_size(myth_thread_t th);
TULLE_API void* myth_wsapi_get_hint_ptr(myth_thread_t th);
TULLE_API void myth_wsapi_set_hint(myth_thread_t th, void** data, size_t* size); /* swaps them */

TULLE_API int myth_wsapi_rand(void); /* a worker */
/* n of them, all different; as many as there are if n is more, and the rest is as it was. */
TULLE_API void myth_wsapi_randarr(int* ret, int n);
TULLE_API int myth_wsapi_rand2(int min, int max); /* from min to max - 1 */

/* --- what is not offered: errno is ENOSYS, a pointer is null ---------------------------------- */

typedef struct myth_pickle myth_pickle_t;
TULLE_API void myth_serialize(myth_thread_t th, myth_pickle_t* p);
#define myth_ext_serialize(th, p) myth_serialize(th, p)
TULLE_API myth_thread_t myth_deserialize(myth_pickle_t* p);
TULLE_API myth_thread_t myth_ext_deserialize(myth_pickle_t* p);
TULLE_API myth_thread_t myth_steal(void);
#define myth_ext_steal() myth_steal()
TULLE_API void myth_import(myth_thread_t th);
TULLE_API void myth_ext_import(myth_thread_t th);
TULLE_API void myth_release_stack(myth_thread_t th);
TULLE_API void myth_release_desc(myth_thread_t th);

/* --- logs: nothing is collected --------------------------------------------------------------- */

TULLE_API void myth_log_start(void);
TULLE_API void myth_log_pause(void);
TULLE_API void myth_log_flush(void);
TULLE_API void myth_log_reset(void);
/* Names the thread for reports, if it is the caller. */
TULLE_API void myth_log_annotate_thread(myth_thread_t th, char* name);
TULLE_API void myth_sched_prof_start(void);
TULLE_API void myth_sched_prof_pause(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for TNT (TiNy Threads), on Tulle: threads, memory, mutexes and barriers of all places,
 * with names and parameters close to those of POSIX threads, with attributes or without. `tulle run
 * -n 4 PROG` starts four nodes. For C11 and C++20. docs/compat/tnt.md tells what differs.
 * Functions return 0 or an errno value, unless said otherwise. Variables of the program are those
 * of one node, unless all nodes have them in common (`tulle run --share-globals`); what else
 * threads of several nodes share lies in memory of tnt_malloc, or travels as a value: handles of
 * threads, mutexes and so on mean the same at all nodes, also in copies.
 * Source: Ye, Pavel, Landwehr, Gao: TiNy Threads on BlueGene/P (2009). */
#ifndef TULLE_COMPAT_TNT_H
#define TULLE_COMPAT_TNT_H

#include <tulle/detail/visibility.h>

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <sys/stat.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t tnt_t;         /* a thread; never 0 */
typedef uint64_t tnt_mutex_t;   /* a mutex, managed at one of the nodes */
typedef uint64_t tnt_barrier_t; /* a barrier, likewise */
typedef uint64_t tnt_cond_t;    /* a condition variable, likewise */
typedef uint64_t tnt_rwlock_t;  /* a lock of many readers or one writer, likewise */
typedef uint64_t tnt_once_t;
typedef uint64_t tnt_key_t; /* of values that each thread has; never 0 */

/* What a variable of the program, or in shared memory, may be initialised by instead of a call: the
 * object is made when it is used for the first time, one for all nodes. */
#define TNT_MUTEX_INITIALIZER ((uint64_t)-1)
#define TNT_COND_INITIALIZER ((uint64_t)-1)
#define TNT_RWLOCK_INITIALIZER ((uint64_t)-1)
#define TNT_ONCE_INIT ((uint64_t)-1)

/* Starts all nodes, with at least so many bytes of shared memory together; 0: as
 * TULLE_GLOBAL_MEMORY says. First thing in main, which goes on at node 0. It may be left out: the
 * first call of another function is one of tnt_init(0), and what main does before that, all nodes
 * do, unless they share variables. Where nodes join before main (TULLE_SHARE_GLOBALS, TULLE_IO),
 * TULLE_GLOBAL_MEMORY alone says how many bytes there are. EALREADY; EINVAL: too much or too
 * little; ENOMEM: there are fewer bytes already. */
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

enum { TNT_CREATE_JOINABLE, TNT_CREATE_DETACHED };
typedef struct {
    size_t stack_size; /* 0: as usual */
    int detached;
} tnt_attr_t;
/* These: EINVAL. */
TULLE_API int tnt_attr_init(tnt_attr_t* attributes);
TULLE_API int tnt_attr_destroy(tnt_attr_t* attributes);
TULLE_API int tnt_attr_setdetachstate(tnt_attr_t* attributes, int state);
TULLE_API int tnt_attr_getdetachstate(const tnt_attr_t* attributes, int* state);
TULLE_API int tnt_attr_setstacksize(tnt_attr_t* attributes, size_t size); /* 16 KiB to 1 GiB */
TULLE_API int tnt_attr_getstacksize(const tnt_attr_t* attributes, size_t* size);

/* EINVAL: null, or no such attributes; ENOENT: the function is in no program or library; EAGAIN: no
 * memory, or no key for tnt_self. */
TULLE_API int tnt_create(tnt_t* thread, void* (*function)(void*), void* argument);
/* The same, as tnt_create with four arguments is. `attributes` null: as usual. */
TULLE_API int tnt_create_with(tnt_t* thread, const tnt_attr_t* attributes, void* (*function)(void*),
                              void* argument);
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
TULLE_API int tnt_equal(tnt_t one, tnt_t other); /* 1 or 0 */
TULLE_API int tnt_yield(void);

/* A function that the program calls once, by the first thread that asks; the others wait. If nodes
 * do not share variables, it changes those of one node only. A variable in shared memory, in shared
 * variables, on a stack or a heap begins anew when it is set to the constant; one of which each
 * node has a copy does not. What the function throws passes on, tnt_exit too, and the next thread
 * calls it. EINVAL; EAGAIN: no memory. */
TULLE_API int tnt_once(tnt_once_t* once, void (*function)(void));

/* At the end of a thread the destructor, which may be null, is called at its node for its value if
 * that is not null. EINVAL; EAGAIN: too many keys; ENOENT: the destructor is in no program or
 * library. */
TULLE_API int tnt_key_create(tnt_key_t* key, void (*destructor)(void*));
TULLE_API int tnt_key_delete(tnt_key_t key); /* EINVAL: there is none */
/* EINVAL: no key; EAGAIN: this node has too many keys, or no memory; ENOMEM. */
TULLE_API int tnt_setspecific(tnt_key_t key, const void* value);
TULLE_API void* tnt_getspecific(tnt_key_t key); /* null: none, or no key */

/* --- shared memory: addresses mean the same at all nodes; <tulle/c/global_memory.h> has more -- */

TULLE_API void* tnt_malloc(size_t size); /* null: errno says why */
TULLE_API void* tnt_calloc(size_t count, size_t size);
TULLE_API void* tnt_realloc(void* address, size_t size); /* null: it is as it was */
TULLE_API int
tnt_free(void* address); /* EINVAL: freed already, or not the beginning; EFAULT: no shared memory */
/* May span nodes. EFAULT. */
TULLE_API int tnt_read(void* to, const void* shared, size_t size);
TULLE_API int tnt_write(void* shared, const void* from, size_t size);

/* --- mutexes, conditions, locks, barriers: each is served by a manager at one node, in turn --- */
/* Of all: EINVAL: there is no such object, null. Times are those of CLOCK_REALTIME; ETIMEDOUT. */

enum {
    TNT_MUTEX_NORMAL, /* any thread may unlock it */
    TNT_MUTEX_RECURSIVE,
    TNT_MUTEX_ERRORCHECK,
    TNT_MUTEX_DEFAULT = TNT_MUTEX_NORMAL
};
typedef struct {
    int type;
} tnt_mutexattr_t;
TULLE_API int tnt_mutexattr_init(tnt_mutexattr_t* attributes);
TULLE_API int tnt_mutexattr_destroy(tnt_mutexattr_t* attributes);
TULLE_API int tnt_mutexattr_settype(tnt_mutexattr_t* attributes, int type);
TULLE_API int tnt_mutexattr_gettype(const tnt_mutexattr_t* attributes, int* type);

TULLE_API int tnt_mutex_init(tnt_mutex_t* mutex);
/* The same, as tnt_mutex_init with two arguments is. `attributes` null: the default type. */
TULLE_API int tnt_mutex_init_with(tnt_mutex_t* mutex, const tnt_mutexattr_t* attributes);
/* EDEADLK: its owner locks a mutex that checks for errors. */
TULLE_API int tnt_mutex_lock(const tnt_mutex_t* mutex);
TULLE_API int tnt_mutex_timedlock(const tnt_mutex_t* mutex, const struct timespec* until);
TULLE_API int tnt_mutex_trylock(const tnt_mutex_t* mutex); /* EBUSY */
TULLE_API int
tnt_mutex_unlock(const tnt_mutex_t* mutex); /* EPERM: it is not locked, or another's */
TULLE_API int tnt_mutex_destroy(const tnt_mutex_t* mutex); /* EBUSY: it is locked */

/* The mutex is locked once when a wait begins, and when it returns, in time or not. A wait ends by
 * a call for this thread only, the first that waits first. EPERM: nobody has locked the mutex. */
TULLE_API int tnt_cond_init(tnt_cond_t* condition);
TULLE_API int tnt_cond_wait(const tnt_cond_t* condition, const tnt_mutex_t* mutex);
TULLE_API int tnt_cond_timedwait(const tnt_cond_t* condition, const tnt_mutex_t* mutex,
                                 const struct timespec* until);
TULLE_API int tnt_cond_signal(const tnt_cond_t* condition);
TULLE_API int tnt_cond_broadcast(const tnt_cond_t* condition);
/* EBUSY: somebody waits. Whoever has been called need not have returned. */
TULLE_API int tnt_cond_destroy(const tnt_cond_t* condition);

/* A writer that waits comes before readers that come later. */
TULLE_API int tnt_rwlock_init(tnt_rwlock_t* lock);
TULLE_API int tnt_rwlock_rdlock(const tnt_rwlock_t* lock);
TULLE_API int tnt_rwlock_wrlock(const tnt_rwlock_t* lock);
TULLE_API int tnt_rwlock_tryrdlock(const tnt_rwlock_t* lock); /* EBUSY */
TULLE_API int tnt_rwlock_trywrlock(const tnt_rwlock_t* lock); /* EBUSY */
TULLE_API int tnt_rwlock_timedrdlock(const tnt_rwlock_t* lock, const struct timespec* until);
TULLE_API int tnt_rwlock_timedwrlock(const tnt_rwlock_t* lock, const struct timespec* until);
TULLE_API int tnt_rwlock_unlock(const tnt_rwlock_t* lock);  /* EPERM: nobody holds it */
TULLE_API int tnt_rwlock_destroy(const tnt_rwlock_t* lock); /* EBUSY: somebody does */

enum { TNT_BARRIER_SERIAL_THREAD = -1 };
TULLE_API int tnt_barrier_init(tnt_barrier_t* barrier, unsigned threads); /* EINVAL: none */
/* Returns when so many wait; TNT_BARRIER_SERIAL_THREAD in one of them. */
TULLE_API int tnt_barrier_wait(const tnt_barrier_t* barrier);
TULLE_API int tnt_barrier_destroy(const tnt_barrier_t* barrier); /* EBUSY: somebody waits */

/* --- output, input and files of node 0, for threads of any node ------------------------------- */
/* System calls that node 0 makes for the caller, whose thread waits meanwhile. They take and do
 * what those of POSIX do, but for this: errors are negative errno values, and `errno` is left
 * alone; paths are node 0's, relative ones begin at its current directory; descriptors mean the
 * same at all nodes, and are no numbers of files that a node has itself, so that neither is taken
 * for the other (EBADF); they wait whether O_NONBLOCK is set or not; a write ends when all is
 * written or there is an error; and programs that node 0 starts do not inherit them.
 * Of all: EBADF; EFAULT: null; ENOMEM; EHOSTDOWN: node 0 has died, and the others are about to be
 * ended. */

enum { TNT_IO_FIRST = 1 << 30 }; /* descriptors are this and more */
#define TNT_STDIN_FILENO (TNT_IO_FIRST + 0)
#define TNT_STDOUT_FILENO (TNT_IO_FIRST + 1)
#define TNT_STDERR_FILENO (TNT_IO_FIRST + 2)

TULLE_API int tnt_io_open(const char* path, int flags, ...); /* the mode, with O_CREAT */
/* A call that another thread makes has the file until it ends. Of the standard streams: no node has
 * them any more by these numbers, and those of node 0 itself stay open. */
TULLE_API int tnt_io_close(int descriptor);
TULLE_API ssize_t tnt_io_read(int descriptor, void* buffer, size_t size);
/* What one call writes is not cut by another one. What node 0 has printed into stdout comes before
 * it. */
TULLE_API ssize_t tnt_io_write(int descriptor, const void* buffer, size_t size);
TULLE_API ssize_t tnt_io_pread(int descriptor, void* buffer, size_t size, off_t offset);
TULLE_API ssize_t tnt_io_pwrite(int descriptor, const void* buffer, size_t size, off_t offset);
TULLE_API off_t tnt_io_lseek(int descriptor, off_t offset, int whence);
TULLE_API int tnt_io_ftruncate(int descriptor, off_t size);
TULLE_API int tnt_io_fsync(int descriptor);
TULLE_API int tnt_io_fstat(int descriptor, struct stat* found);
TULLE_API int tnt_io_stat(const char* path, struct stat* found);
TULLE_API int tnt_io_unlink(const char* path);
TULLE_API int tnt_io_rename(const char* from, const char* to);
TULLE_API int tnt_io_mkdir(const char* path, mode_t mode);
/* The next line, its end included, and a zero byte: at most size - 1 bytes of it, the others are
 * left for the next call. Its length; 0: the end of the input. Threads that ask at a time get whole
 * lines. EINVAL: there is no room. */
TULLE_API ssize_t tnt_io_gets(int descriptor, char* line, size_t size);
/* One write to node 0's standard output. Its length. EILSEQ, EOVERFLOW: what printf refuses. */
TULLE_API int tnt_io_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

/* --- with attributes, as in programs for POSIX threads; objects have none but mutexes --------- */

/* clang-format off */
#ifdef __cplusplus
inline int tnt_create(tnt_t* thread, const tnt_attr_t* attributes, void* (*function)(void*),
                      void* argument) {
    return tnt_create_with(thread, attributes, function, argument);
}
inline int tnt_mutex_init(tnt_mutex_t* mutex, const tnt_mutexattr_t* attributes) {
    return tnt_mutex_init_with(mutex, attributes);
}
inline int tnt_cond_init(tnt_cond_t* condition, decltype(nullptr)) {
    return tnt_cond_init(condition);
}
inline int tnt_rwlock_init(tnt_rwlock_t* lock, decltype(nullptr)) { return tnt_rwlock_init(lock); }
inline int tnt_barrier_init(tnt_barrier_t* barrier, decltype(nullptr), unsigned threads) {
    return tnt_barrier_init(barrier, threads);
}
#else
#define TNT_FIRST(first, ...) first
#define TNT_FIFTH(a, b, c, d, fifth, ...) fifth
#define TNT_BARRIER_INIT(barrier, attributes, threads) tnt_barrier_init(barrier, threads)
#define tnt_create(...) TNT_FIFTH(__VA_ARGS__, tnt_create_with, tnt_create, , )(__VA_ARGS__)
#define tnt_mutex_init(...) \
    TNT_FIFTH(__VA_ARGS__, , , tnt_mutex_init_with, tnt_mutex_init, )(__VA_ARGS__)
#define tnt_cond_init(...) tnt_cond_init(TNT_FIRST(__VA_ARGS__, ))
#define tnt_rwlock_init(...) tnt_rwlock_init(TNT_FIRST(__VA_ARGS__, ))
#define tnt_barrier_init(...) \
    TNT_FIFTH(__VA_ARGS__, , TNT_BARRIER_INIT, tnt_barrier_init, )(__VA_ARGS__)
#endif
/* clang-format on */

#endif

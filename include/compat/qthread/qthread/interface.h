/* SPDX-License-Identifier: Apache-2.0
 *
 * What <qthread/qthread.h> has for C and C++: the face of Tulle that programs written for Qthreads
 * 1.23 see. What each function does here, and where that differs:
 * docs/compat/qthread.md. Every function may be called by any thread of the process once
 * qthread_initialize() has returned.
 * Source: Wheeler, Murphy and Thain, "Qthreads", IPDPS 2008, doi:10.1109/IPDPS.2008.4536359; the
 * interface of Qthreads 1.23. */
#ifndef QTHREAD_INTERFACE_H
#define QTHREAD_INTERFACE_H

#include <errno.h>

#if defined(__cplusplus)
#include <atomic>
#define QT_Atomic(T) std::atomic<T>
#else
#include <stdatomic.h>
#define QT_Atomic(T) _Atomic(T)
#endif

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common.h"
#include "macros.h"

#define QTHREAD_SUCCESS 0
#define QTHREAD_BADARGS -1
#define QTHREAD_PTHREAD_ERROR -2
#define QTHREAD_NOT_ALLOWED -3
#define QTHREAD_MALLOC_ERROR ENOMEM
#define QTHREAD_THIRD_PARTY_ERROR -4
#define QTHREAD_TIMEOUT -5
#define QTHREAD_OVERFLOW EOVERFLOW
#define QTHREAD_OPFAIL -7

#define NO_SHEPHERD ((qthread_shepherd_id_t)-1)
#define NO_WORKER ((qthread_worker_id_t)-1)

#define QTHREAD_RELEASE_TYPE_ALPHA 0
#define QTHREAD_RELEASE_TYPE_BETA 1
#define QTHREAD_RELEASE_TYPE_RC 2
#define QTHREAD_RELEASE_TYPE_PATCH 3
#define QTHREAD_VERSION "1.23"
#define QTHREADS_GET_VERSION(MAJOR, MINOR, REVISION, TYPE, PATCH)                                  \
    (((MAJOR)*10000000) + ((MINOR)*100000) + ((REVISION)*1000) + ((TYPE)*100) + (PATCH))
/* In octal, as Qthreads has it. */
#define QTHREAD_NUMVERSION 012300300

#define MACHINE_FENCE __atomic_thread_fence(__ATOMIC_ACQ_REL);

#if QTHREAD_ASSEMBLY_ARCH == QTHREAD_AMD64
#define QTHREAD_SWAPS_IMPLY_ACQ_REL_FENCES
#endif

#if UINTPTR_MAX == UINT64_MAX
#define QTHREAD_BITS 64
#else
#define QTHREAD_BITS 32
#endif

Q_STARTCXX

#if QTHREAD_BITS == 64
typedef uint64_t aligned_t;
typedef uint32_t haligned_t;
typedef int64_t saligned_t;
#else
typedef uint32_t aligned_t;
typedef uint16_t haligned_t;
typedef int32_t saligned_t;
#endif

#define QTHREAD_ALIGNMENT_ALIGNED_T (sizeof(aligned_t))
#define QALIGN(d, s) (s) = (d)

/* --- words with their state inside ------------------------------------------------------------ */

/* 60 bits of data, 3 of state, one that is the word's lock. A full word has the state 0, an empty
 * one 2; 1 and 3: threads wait for it. */
typedef struct _syncvar_s {
    union {
        uint64_t w;
        __extension__ struct {
#ifdef BITFIELD_ORDER_FORWARD
            uint64_t data : 60;
            unsigned state : 3;
            unsigned lock : 1;
#else
            unsigned lock : 1;
            unsigned state : 3;
            uint64_t data : 60;
#endif
        } s;
    } u;
} syncvar_t;

/* clang-format off */
#define SYNCVAR_STATIC_INITIALIZER {{0}}
#define SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(value) {{((uint64_t)(value) << 4) | 4u}}
#define SYNCVAR_STATIC_INITIALIZE_TO(value) {{(uint64_t)(value) << 4}}
#define SYNCVAR_STATIC_EMPTY_INITIALIZER SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(0)
/* clang-format on */
#ifdef __cplusplus
#define SYNCVAR_INITIALIZER (syncvar_t SYNCVAR_STATIC_INITIALIZER)
#define SYNCVAR_EMPTY_INITIALIZER (syncvar_t SYNCVAR_STATIC_EMPTY_INITIALIZER)
#define SYNCVAR_INITIALIZE_TO(value) (syncvar_t SYNCVAR_STATIC_INITIALIZE_TO(value))
#define SYNCVAR_EMPTY_INITIALIZE_TO(value) (syncvar_t SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(value))
#else
#define SYNCVAR_INITIALIZER ((syncvar_t)SYNCVAR_STATIC_INITIALIZER)
#define SYNCVAR_EMPTY_INITIALIZER ((syncvar_t)SYNCVAR_STATIC_EMPTY_INITIALIZER)
#define SYNCVAR_INITIALIZE_TO(value) ((syncvar_t)SYNCVAR_STATIC_INITIALIZE_TO(value))
#define SYNCVAR_EMPTY_INITIALIZE_TO(value) ((syncvar_t)SYNCVAR_STATIC_EMPTY_INITIALIZE_TO(value))
#endif

/* Numbers to 60 bits and back; a floating-point number loses the last four bits of its fraction. */
#define INT64TOINT60(x) ((uint64_t)(x)&UINT64_C(0xfffffffffffffff))
#define INT60TOINT64(x)                                                                            \
    ((int64_t)(((uint64_t)(x)&UINT64_C(0x800000000000000))                                         \
                   ? ((uint64_t)(x) | UINT64_C(0xf800000000000000))                                \
                   : (uint64_t)(x)))
#define DBL64TODBL60(in, out)                                                                      \
    do {                                                                                           \
        memcpy(&(out), &(in), 8);                                                                  \
        (out) >>= 4;                                                                               \
    } while (0)
#define DBL60TODBL64(in, out)                                                                      \
    do {                                                                                           \
        (in) <<= 4;                                                                                \
        memcpy(&(out), &(in), 8);                                                                  \
    } while (0)

/* --- the run time ----------------------------------------------------------------------------- */

typedef unsigned short qthread_shepherd_id_t;
typedef unsigned short qthread_worker_id_t;

/* What a qthread runs. */
typedef aligned_t (*qthread_f)(void* arg);

/* Starts the shepherds; if they run already, nothing. The environment says how many
 * (docs/compat/qthread.md). */
int qthread_initialize(void);
/* The same with that many shepherds of one worker each; 0: as the environment says. */
int qthread_init(qthread_shepherd_id_t nshepherds);
/* Ends the shepherds when all qthreads have ended; where none has ended for a second, and none
 * computes, it gives up those that are left. By the thread that initialised, and when the process
 * exits. The library may be initialised again. */
void qthread_finalize(void);
/* Calls f(arg), and stores what it returns in the word at `ret` as a qthread does that ends;
 * `flags` as for qthread_spawn(). */
void qthread_call_method(qthread_f f, void* arg, void* ret, uint16_t flags);

int qthread_disable_shepherd(qthread_shepherd_id_t shep);
void qthread_enable_shepherd(qthread_shepherd_id_t shep);
int qthread_disable_worker(qthread_worker_id_t worker);
void qthread_enable_worker(qthread_worker_id_t worker);

#define qthread_yield()                                                                            \
    do {                                                                                           \
        qthread_yield_(0);                                                                         \
    } while (0)
#define qthread_yield_near()                                                                       \
    do {                                                                                           \
        qthread_yield_(1);                                                                         \
    } while (0)
void qthread_yield_(int near);
void qthread_flushsc(void);

/* --- new threads ------------------------------------------------------------------------------ */

/* Start a qthread that runs f(arg). The word at `ret`, if any, becomes empty now, and full with
 * what f returns when the qthread ends.
 * With `arg_size` the argument is copied, and the qthread gets the address of the copy. */
int qthread_fork(qthread_f f, void const* arg, aligned_t* ret);
int qthread_fork_net(qthread_f f, void const* arg, aligned_t* ret);
int qthread_fork_to(qthread_f f, void const* arg, aligned_t* ret, qthread_shepherd_id_t shepherd);
int qthread_fork_syncvar(qthread_f f, void const* arg, syncvar_t* ret);
int qthread_fork_syncvar_to(qthread_f f, void const* arg, syncvar_t* ret,
                            qthread_shepherd_id_t shepherd);
int qthread_fork_copyargs(qthread_f f, void const* arg, size_t arg_size, aligned_t* ret);
/* `ret` is a full/empty word, whatever its type says. */
int qthread_fork_copyargs_to(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret,
                             qthread_shepherd_id_t preferred_shep);
int qthread_fork_syncvar_copyargs(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret);
int qthread_fork_syncvar_copyargs_simple(qthread_f f, void const* arg, size_t arg_size,
                                         syncvar_t* ret);
/* Start when all of the words (`npreconds` of aligned_t*, or one array of them with a negative
 * number) have been full. */
int qthread_fork_precond(qthread_f f, void const* arg, aligned_t* ret, int npreconds, ...);
int qthread_fork_precond_to(qthread_f f, void const* arg, aligned_t* ret,
                            qthread_shepherd_id_t shepherd, int npreconds, ...);
int qthread_fork_precond_simple(qthread_f f, void const* arg, aligned_t* ret, int npreconds, ...);
int qthread_fork_copyargs_precond(qthread_f f, void const* arg, size_t arg_size, syncvar_t* ret,
                                  int npreconds, ...);

enum _qthread_features {
    SPAWN_PARENT,
    SPAWN_SIMPLE,
    SPAWN_NEW_TEAM,
    SPAWN_NEW_SUBTEAM,
    SPAWN_RET_SYNCVAR_T,
    SPAWN_RET_SINC,
    SPAWN_RET_SINC_VOID,
    SPAWN_PC_SYNCVAR_T,
    SPAWN_COUNT,
    SPAWN_LOCAL_PRIORITY,
    SPAWN_NETWORK
};

#define QTHREAD_SPAWN_PARENT (1 << SPAWN_PARENT)
#define QTHREAD_SPAWN_SIMPLE (1 << SPAWN_SIMPLE)
#define QTHREAD_SPAWN_NEW_TEAM (1 << SPAWN_NEW_TEAM)
#define QTHREAD_SPAWN_NEW_SUBTEAM (1 << SPAWN_NEW_SUBTEAM)
#define QTHREAD_SPAWN_RET_SYNCVAR_T (1 << SPAWN_RET_SYNCVAR_T)
#define QTHREAD_SPAWN_RET_SINC (1 << SPAWN_RET_SINC)
#define QTHREAD_SPAWN_RET_SINC_VOID (1 << SPAWN_RET_SINC_VOID)
#define QTHREAD_SPAWN_PC_SYNCVAR_T (1 << SPAWN_PC_SYNCVAR_T)
#define QTHREAD_SPAWN_LOCAL_PRIORITY (1 << SPAWN_LOCAL_PRIORITY)
#define QTHREAD_SPAWN_NETWORK (1 << SPAWN_NETWORK)

/* `preconds`: an array whose first word is `npreconds`, and the others the addresses; it is freed
 * when the qthread has started. */
int qthread_spawn(qthread_f f, void const* arg, size_t arg_size, void* ret, size_t npreconds,
                  void* preconds, qthread_shepherd_id_t target_shep, unsigned int feature_flag);

/* `num_clones` + 1 qthreads of f(arg), each on a worker of its own of that shepherd as far as it
 * has so many. The word at `ret`, if any, is full with what the last one returns when all have
 * ended. Source: Qthreads as Kokkos used it. */
int qthread_fork_clones_to_local_priority(qthread_f f, void const* arg, aligned_t* ret,
                                          qthread_shepherd_id_t shepherd, unsigned int num_clones);

int qthread_migrate_to(qthread_shepherd_id_t const shepherd);
void qthread_reset_target_shep(void);
/* The same, as Chapel's Qthreads calls it. */
void qthread_chpl_reset_spawn_order(void);

/* --- who and where ---------------------------------------------------------------------------- */

#define QTHREAD_NULL_TASK_ID UINT_MAX
#define QTHREAD_NON_TASK_ID 0
#define QTHREAD_DEFAULT_TEAM_ID 1
#define QTHREAD_NON_TEAM_ID 0
#define QTHREAD_NULL_TEAM_ID UINT_MAX

unsigned qthread_id(void);
qthread_shepherd_id_t qthread_shep(void);
/* Store the shepherd as well if `s` is not null. */
qthread_worker_id_t qthread_worker(qthread_shepherd_id_t* s);
qthread_worker_id_t qthread_worker_unique(qthread_shepherd_id_t* s);
qthread_worker_id_t qthread_worker_local(qthread_shepherd_id_t* s);

/* Memory of the calling qthread, of at least that many bytes; its content is kept when it grows.
 * Null: no qthread. */
void* qthread_get_tasklocal(unsigned int size);
unsigned qthread_size_tasklocal(void);

void* qthread_tos(void);
void* qthread_bos(void);
size_t qthread_stackleft(void);
aligned_t* qthread_retloc(void);

int qthread_shep_ok(void);
void qthread_shep_next(qthread_shepherd_id_t* shep);
void qthread_shep_prev(qthread_shepherd_id_t* shep);
void qthread_shep_next_local(qthread_shepherd_id_t* shep);
void qthread_shep_prev_local(qthread_shepherd_id_t* shep);
int qthread_distance(qthread_shepherd_id_t const src, qthread_shepherd_id_t const dest);
/* The other shepherds, the nearest first. The array belongs to the library. */
qthread_shepherd_id_t const* qthread_sorted_sheps(void);
qthread_shepherd_id_t const* qthread_sorted_sheps_remote(qthread_shepherd_id_t const src);

qthread_shepherd_id_t qthread_num_shepherds(void);
qthread_worker_id_t qthread_num_workers(void);
qthread_worker_id_t qthread_num_workers_local(qthread_shepherd_id_t shepherd_id);

enum introspective_state {
    STACK_SIZE,
    RUNTIME_DATA_SIZE,
    BUSYNESS,
    NODE_BUSYNESS,
    ACTIVE_SHEPHERDS,
    TOTAL_SHEPHERDS,
    ACTIVE_WORKERS,
    TOTAL_WORKERS,
    WORKER_OCCUPATION,
    CURRENT_SHEPHERD,
    CURRENT_WORKER,
    CURRENT_UNIQUE_WORKER,
    CURRENT_TEAM,
    PARENT_TEAM
};

size_t qthread_readstate(const enum introspective_state type);

/* --- teams ------------------------------------------------------------------------------------ */

typedef enum qt_team_critical_section_e { BEGIN, END } qt_team_critical_section_t;

unsigned int qt_team_id(void);
unsigned int qt_team_parent_id(void);
void qt_team_critical_section(qt_team_critical_section_t boundary);

#define qthread_fork_new_team(f, a, r)                                                             \
    qthread_spawn((f), (a), 0, (r), 0, NULL, NO_SHEPHERD, QTHREAD_SPAWN_NEW_TEAM)
#define qthread_fork_new_subteam(f, a, r)                                                          \
    qthread_spawn((f), (a), 0, (r), 0, NULL, NO_SHEPHERD, QTHREAD_SPAWN_NEW_SUBTEAM)
#define qthread_fork_new_team_to(f, a, r, p)                                                       \
    qthread_spawn((f), (a), 0, (r), 0, NULL, (p), QTHREAD_SPAWN_NEW_TEAM)
#define qthread_fork_syncvar_new_team(f, a, r)                                                     \
    qthread_spawn((f), (a), 0, (r), 0, NULL, NO_SHEPHERD,                                          \
                  QTHREAD_SPAWN_NEW_TEAM | QTHREAD_SPAWN_RET_SYNCVAR_T)
#define qthread_fork_syncvar_new_subteam(f, a, r)                                                  \
    qthread_spawn((f), (a), 0, (r), 0, NULL, NO_SHEPHERD,                                          \
                  QTHREAD_SPAWN_NEW_SUBTEAM | QTHREAD_SPAWN_RET_SYNCVAR_T)
#define qthread_fork_copyargs_new_team(f, a, z, r)                                                 \
    qthread_spawn((f), (a), (z), (r), 0, NULL, NO_SHEPHERD, QTHREAD_SPAWN_NEW_TEAM)
#define qthread_fork_copyargs_new_subteam(f, a, z, r)                                              \
    qthread_spawn((f), (a), (z), (r), 0, NULL, NO_SHEPHERD, QTHREAD_SPAWN_NEW_SUBTEAM)
#define qthread_fork_syncvar_copyargs_to(f, a, z, r, p)                                            \
    qthread_spawn((f), (a), (z), (r), 0, NULL, (p), QTHREAD_SPAWN_RET_SYNCVAR_T)

/* --- queues to wait in ------------------------------------------------------------------------ */

typedef struct qthread_queue_s* qthread_queue_t;

#define QTHREAD_QUEUE_NO_SYNCH (1 << 0)
#define QTHREAD_QUEUE_MULTI_JOIN (1 << 1)
#define QTHREAD_QUEUE_MULTI_JOIN_LENGTH (1 << 2)
#define QTHREAD_QUEUE_CAPPED (1 << 3)

qthread_queue_t qthread_queue_create(uint8_t flags, aligned_t length);
int qthread_queue_join(qthread_queue_t q);
aligned_t qthread_queue_length(qthread_queue_t q);
int qthread_queue_release_one(qthread_queue_t q);
int qthread_queue_release_all(qthread_queue_t q);
int qthread_queue_destroy(qthread_queue_t q);

/* --- full/empty words ------------------------------------------------------------------------- */

/* Each aligned word of memory is full unless somebody has emptied it. The forms with _nb never
 * wait: QTHREAD_OPFAIL. */
int qthread_feb_status(aligned_t const* addr); /* 1: full, 0: empty */
int qthread_empty(aligned_t const* dest);
int qthread_fill(aligned_t const* dest);
/* Wait until it is empty; write; full. */
int qthread_writeEF(aligned_t* restrict dest, aligned_t const* restrict src);
int qthread_writeEF_const(aligned_t* dest, aligned_t const src);
int qthread_writeEF_nb(aligned_t* restrict dest, aligned_t const* restrict src);
int qthread_writeEF_const_nb(aligned_t* dest, aligned_t const src);
/* Write; full. */
int qthread_writeF(aligned_t* dest, aligned_t const* src);
int qthread_writeF_const(aligned_t* dest, aligned_t src);
/* Write 0, or what is given; empty. */
int qthread_purge(aligned_t* dest);
int qthread_purge_to(aligned_t* restrict dest, aligned_t const* restrict src);
int qthread_purge_to_const(aligned_t* dest, aligned_t purgeVal);
/* Wait until it is full; write. */
int qthread_writeFF(aligned_t* restrict dest, aligned_t const* restrict src);
int qthread_writeFF_const(aligned_t* dest, aligned_t src);
int qthread_writeFF_nb(aligned_t* restrict dest, aligned_t const* restrict src);
int qthread_writeFF_const_nb(aligned_t* dest, aligned_t src);
/* Wait until it is full; read. */
int qthread_readFF(aligned_t* dest, aligned_t const* src);
int qthread_readFF_nb(aligned_t* dest, aligned_t const* src);
/* Wait until it is full; read; empty. */
int qthread_readFE(aligned_t* dest, aligned_t const* src);
int qthread_readFE_nb(aligned_t* dest, aligned_t const* src);
/* Read. */
int qthread_readXX(aligned_t* dest, aligned_t const* src);

int qthread_syncvar_status(syncvar_t* const v);
int qthread_syncvar_empty(syncvar_t* restrict dest);
int qthread_syncvar_fill(syncvar_t* restrict dest);
int qthread_syncvar_writeEF(syncvar_t* restrict dest, uint64_t const* restrict src);
int qthread_syncvar_writeEF_const(syncvar_t* restrict dest, uint64_t src);
int qthread_syncvar_writeEF_nb(syncvar_t* restrict dest, uint64_t const* restrict src);
int qthread_syncvar_writeEF_const_nb(syncvar_t* restrict dest, uint64_t src);
int qthread_syncvar_writeF(syncvar_t* restrict dest, uint64_t const* restrict src);
int qthread_syncvar_writeF_const(syncvar_t* restrict dest, uint64_t src);
int qthread_syncvar_readFF(uint64_t* restrict dest, syncvar_t* restrict src);
int qthread_syncvar_readFF_nb(uint64_t* restrict dest, syncvar_t* restrict src);
int qthread_syncvar_readFE(uint64_t* restrict dest, syncvar_t* restrict src);
int qthread_syncvar_readFE_nb(uint64_t* restrict dest, syncvar_t* restrict src);
/* Add, whatever the state is; what it is then. An empty word that somebody waits for becomes full;
 * others keep their state. */
uint64_t qthread_syncvar_incrF(syncvar_t* restrict operand, uint64_t inc);

/* --- locks ------------------------------------------------------------------------------------ */

#define QTHREAD_SPINLOCK_IS_RECURSIVE (-1)
#define QTHREAD_SPINLOCK_IS_NOT_RECURSIVE (-2)

typedef union qt_spin_trylock_s {
    aligned_t u;
    struct {
        haligned_t ticket;
        haligned_t users;
    } s;
} qt_spin_trylock_t;

typedef struct {
    int64_t s;     /* the owner, or one of the two constants above */
    int64_t count; /* how often the owner has locked it */
} qthread_spinlock_state_t;

typedef struct {
    qt_spin_trylock_t lock;
    qthread_spinlock_state_t state;
} qthread_spinlock_t;

/* clang-format off */
#define QTHREAD_MUTEX_INITIALIZER {{0}, {QTHREAD_SPINLOCK_IS_NOT_RECURSIVE, 0}}
#define QTHREAD_RECURSIVE_MUTEX_INITIALIZER {{0}, {QTHREAD_SPINLOCK_IS_RECURSIVE, 0}}
/* clang-format on */

/* A mutex for each address. */
int qthread_lock(aligned_t const* a);
int qthread_unlock(aligned_t const* a);
int qthread_trylock(aligned_t const* a);
/* From now on the address has a lock of its own, recursive if asked for. */
int qthread_lock_init(aligned_t const* a, bool const is_recursive);
int qthread_lock_destroy(aligned_t* a);

int qthread_spinlock_init(qthread_spinlock_t* a, bool const is_recursive);
int qthread_spinlock_destroy(qthread_spinlock_t* a);
int qthread_spinlock_lock(qthread_spinlock_t* a);
int qthread_spinlock_unlock(qthread_spinlock_t* a);
int qthread_spinlock_trylock(qthread_spinlock_t* a);
int qthread_spinlocks_init(qthread_spinlock_t* a, bool const is_recursive);
int qthread_spinlocks_destroy(qthread_spinlock_t* a);

Q_ENDCXX

/* --- atomic operations; what was there before ------------------------------------------------- */

#define QTHREAD_DEFINE_FLOAT_INCR(NAME, NUMBER, BITS)                                              \
    static inline NUMBER NAME(NUMBER* operand, NUMBER incr) {                                      \
        BITS* const word = (BITS*)(void*)operand;                                                  \
        BITS before = __atomic_load_n(word, __ATOMIC_RELAXED), after;                              \
        NUMBER value, sum;                                                                         \
        do {                                                                                       \
            memcpy(&value, &before, sizeof value);                                                 \
            sum = value + incr;                                                                    \
            memcpy(&after, &sum, sizeof after);                                                    \
        } while (!__atomic_compare_exchange_n(word, &before, after, 1, __ATOMIC_SEQ_CST,           \
                                              __ATOMIC_RELAXED));                                  \
        return value;                                                                              \
    }
QTHREAD_DEFINE_FLOAT_INCR(qthread_fincr, float, uint32_t)
QTHREAD_DEFINE_FLOAT_INCR(qthread_dincr, double, uint64_t)
#undef QTHREAD_DEFINE_FLOAT_INCR

static inline uint32_t qthread_incr32(uint32_t* operand, uint32_t incr) {
    return __sync_fetch_and_add(operand, incr);
}
static inline uint64_t qthread_incr64(uint64_t* operand, uint64_t incr) {
    return __sync_fetch_and_add(operand, incr);
}
static inline int64_t qthread_incr_xx(void* addr, int64_t incr, size_t length) {
    switch (length) {
        case 4: return (int64_t)qthread_incr32((uint32_t*)addr, (uint32_t)incr);
        case 8: return (int64_t)qthread_incr64((uint64_t*)addr, (uint64_t)incr);
        default: QTHREAD_TRAP();
    }
    return 0;
}

#define qthread_cas(ADDR, OLDV, NEWV) __sync_val_compare_and_swap((ADDR), (OLDV), (NEWV))
#define qthread_cas32(ADDR, OLDV, NEWV) __sync_val_compare_and_swap((ADDR), (OLDV), (NEWV))
#define qthread_cas64(ADDR, OLDV, NEWV) __sync_val_compare_and_swap((ADDR), (OLDV), (NEWV))
#define qthread_cas_ptr(ADDR, OLDV, NEWV) (void*)__sync_val_compare_and_swap((ADDR), (OLDV), (NEWV))

#ifndef __cplusplus
#define qthread_incr(ADDR, INCVAL) __sync_fetch_and_add(ADDR, INCVAL)
#endif

#endif

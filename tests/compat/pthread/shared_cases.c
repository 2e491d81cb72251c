// SPDX-License-Identifier: Apache-2.0
// Cases of semaphores, barriers, rwlocks and robust mutexes that processes share.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* shared_memory(size_t size) {
    void* const all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return all != MAP_FAILED ? all : (abort(), NULL);
}

static void await(atomic_int* word, int value) {
    while (atomic_load(word) != value) usleep(1000);
}

// The caller's child calls `f` in a thread, and ends with what that returns.
static pid_t in_process(void* (*f)(void*), void* argument) {
    fflush(stdout);
    pid_t const child = fork();
    if (child != 0) return child;
    alarm(30);
    _exit((int)(intptr_t)in_thread(f, argument));
}

// --- semaphores ----------------------------------------------------------------------------------

enum { k_passes = 200 };
struct two_semaphores {
    sem_t there, back;
};

static void* answers(void* of) {
    struct two_semaphores* const s = of;
    int wrong = 0;
    for (int k = 0; k != k_passes; ++k) {
        wrong += sem_wait(&s->there) != 0;
        wrong += sem_post(&s->back) != 0;
    }
    return (void*)(intptr_t)wrong;
}

static void* asks(void* of) {
    struct two_semaphores* const s = of;
    int wrong = 0;
    for (int k = 0; k != k_passes; ++k) {
        struct timespec const until = in_ms_of(CLOCK_REALTIME, 20000);
        wrong += sem_post(&s->there) != 0;
        wrong += sem_timedwait(&s->back, &until) != 0;
    }
    return (void*)(intptr_t)wrong;
}

static atomic_int s_waits, s_handled, s_is_over;
static void handle(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}

static void* waits_for_semaphore(void* s) {
    struct timespec const until = in_ms_of(CLOCK_MONOTONIC, 20000);
    atomic_store(&s_waits, 1);
    int const result = sem_clockwait(s, CLOCK_MONOTONIC, &until);
    SHOW(result);
    SHOW(result == 0 || errno == EINTR);
    atomic_store(&s_is_over, 1);
    return NULL;
}

static void* waits_for_ever(void* s) {
    atomic_store(&s_waits, 1);
    SHOW(sem_wait(s));
    return NULL;
}

// How a wait ends: by a post, by a handler, by a cancellation.
static void end_wait(sem_t* s, void* (*wait)(void*), void (*end)(pthread_t, sem_t*)) {
    pthread_t t;
    void* result = NULL;
    atomic_store(&s_waits, 0);
    atomic_store(&s_is_over, 0);
    pthread_create(&t, NULL, wait, s);
    await(&s_waits, 1);
    usleep(30000); // it waits by now, most times; the end is the same if it does not
    end(t, s);
    pthread_join(t, &result);
    SHOW(atomic_exchange(&s_handled, 0) != 0);
    SHOW(result == PTHREAD_CANCELED);
}
static void by_post(pthread_t t, sem_t* s) {
    (void)t;
    if (sem_post(s) != 0) abort();
}
// A signal that comes before the wait does not end it.
static void by_handler(pthread_t t, sem_t* s) {
    (void)s;
    for (; atomic_load(&s_is_over) == 0; usleep(1000))
        if (pthread_kill(t, SIGUSR1) != 0) abort();
}
static void by_both(pthread_t t, sem_t* s) {
    if (pthread_kill(t, SIGUSR1) != 0) abort();
    await(&s_handled, 1);
    by_post(t, s);
}
static void by_cancellation(pthread_t t, sem_t* s) {
    (void)s;
    if (pthread_cancel(t) != 0) abort();
}

static void* tries_semaphore(void* of) {
    sem_t* const s = of;
    int value = -1;
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20), never = {0, 1000000000};
    SHOW(sem_trywait(s) == -1 && errno == EAGAIN);
    SHOW(sem_timedwait(s, &soon) == -1 && errno == ETIMEDOUT);
    SHOW(sem_timedwait(s, &never) == -1 && errno == EINVAL);
    SHOW(sem_post(s));
    SHOW(sem_getvalue(s, &value));
    SHOW(value);
    SHOW(sem_trywait(s));
    return of;
}

static void try_semaphore(sem_t* s) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    in_thread(tries_semaphore, s);
    end_wait(s, waits_for_semaphore, by_post);
    end_wait(s, waits_for_semaphore, by_handler);
    end_wait(s, waits_for_ever, by_post);
    end_wait(s, waits_for_ever, by_cancellation);
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    end_wait(s, waits_for_semaphore, by_handler); // restarts have no time
    end_wait(s, waits_for_ever, by_both);
    SHOW(sem_trywait(s) == -1 && errno == EAGAIN);
}

void shared_semaphores(void) {
    struct two_semaphores* const s = shared_memory(sizeof *s);
    SHOW(sem_init(&s->there, 1, 0));
    SHOW(sem_init(&s->back, 1, 0));
    try_semaphore(&s->there);
    SHOW(sem_init(&s->back, 0, 0));
    try_semaphore(&s->back); // of one process
    SHOW(sem_init(&s->back, 1, 0));
    pid_t const child = in_process(answers, s);
    SHOW((intptr_t)in_thread(asks, s));
    SHOW(end_of(child));
    pthread_t t;
    pthread_create(&t, NULL, answers, s);
    SHOW((intptr_t)in_thread(asks, s));
    pthread_join(t, NULL);
    SHOW(sem_destroy(&s->there));
    SHOW(sem_init(&s->there, 1, SEM_VALUE_MAX));
    SHOW(sem_post(&s->there) == -1 && errno == EOVERFLOW);
    SHOW(sem_init(&s->there, 1, (unsigned)SEM_VALUE_MAX + 1U) == -1 && errno == EINVAL);
}

void named_semaphores(void) {
    char name[64];
    snprintf(name, sizeof name, "/pthread-cases-%d", (int)getpid());
    sem_t* const s = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    SHOW(s != SEM_FAILED);
    SHOW(sem_open(name, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
    try_semaphore(s);
    SHOW(sem_unlink(name));
    SHOW(sem_unlink(name) == -1 && errno == ENOENT);
    SHOW(sem_close(s));
}

// --- barriers ------------------------------------------------------------------------------------

enum { k_rounds = 50, k_parties = 4 };
struct barrier_of_processes {
    pthread_barrier_t barrier;
    atomic_int arrived, wrong, last;
};

static void* goes_round(void* of) {
    struct barrier_of_processes* const b = of;
    for (int k = 1; k <= k_rounds; ++k) {
        atomic_fetch_add(&b->arrived, 1);
        int const how = pthread_barrier_wait(&b->barrier);
        if (how == PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&b->last, 1);
        if (how != 0 && how != PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&b->wrong, 1);
        if (atomic_load(&b->arrived) < k * k_parties) atomic_fetch_add(&b->wrong, 1);
    }
    return NULL;
}

static void* go_round(void* of) {
    pthread_t t[k_parties / 2];
    for (int k = 0; k != k_parties / 2; ++k) pthread_create(&t[k], NULL, goes_round, of);
    for (int k = 0; k != k_parties / 2; ++k) pthread_join(t[k], NULL);
    return NULL;
}

void shared_barriers(void) {
    struct barrier_of_processes* const b = shared_memory(sizeof *b);
    pthread_barrierattr_t how;
    pthread_barrierattr_init(&how);
    SHOW(pthread_barrierattr_setpshared(&how, PTHREAD_PROCESS_SHARED));
    SHOW(pthread_barrierattr_setpshared(&how, 7) == EINVAL);
    SHOW(pthread_barrier_init(&b->barrier, &how, 0) == EINVAL);
    SHOW(pthread_barrier_init(&b->barrier, &how, k_parties));
    pid_t const child = in_process(go_round, b);
    in_thread(go_round, b);
    SHOW(end_of(child));
    SHOW(atomic_load(&b->last));
    SHOW(atomic_load(&b->wrong));
    pthread_t t;
    atomic_store(&b->arrived, 0);
    pthread_create(&t, NULL, go_round, b);
    in_thread(go_round, b);
    pthread_join(t, NULL);
    SHOW(atomic_load(&b->last));
    SHOW(atomic_load(&b->wrong));
    SHOW(pthread_barrier_destroy(&b->barrier));
}

// --- rwlocks -------------------------------------------------------------------------------------

struct lock_of_processes {
    pthread_rwlock_t lock;
    int count, copy;
    atomic_int step, wrong;
};

static void* reads_and_writes(void* of) {
    struct lock_of_processes* const l = of;
    for (int k = 0; k != 500; ++k) {
        struct timespec const until = in_ms_of(CLOCK_REALTIME, 20000);
        if (k % 2 == 0 ? pthread_rwlock_wrlock(&l->lock) != 0
                       : pthread_rwlock_timedrdlock(&l->lock, &until) != 0)
            atomic_fetch_add(&l->wrong, 1);
        if (l->count != l->copy) atomic_fetch_add(&l->wrong, 1);
        if (k % 2 == 0) ++l->count;
        if (k % 50 == 0) sched_yield();
        if (k % 2 == 0) ++l->copy;
        if (pthread_rwlock_unlock(&l->lock) != 0) atomic_fetch_add(&l->wrong, 1);
    }
    return NULL;
}

static void* holds_lock(void* of) {
    struct lock_of_processes* const l = of;
    SHOW(pthread_rwlock_wrlock(&l->lock));
    SHOW(pthread_rwlock_rdlock(&l->lock) == EDEADLK);
    SHOW(pthread_rwlock_wrlock(&l->lock) == EDEADLK);
    atomic_store(&l->step, 1);
    await(&l->step, 2);
    SHOW(pthread_rwlock_unlock(&l->lock));
    SHOW(pthread_rwlock_rdlock(&l->lock));
    atomic_store(&l->step, 3);
    await(&l->step, 4);
    SHOW(pthread_rwlock_unlock(&l->lock));
    return NULL;
}

static void* is_kept_out(void* of) {
    struct lock_of_processes* const l = of;
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 20);
    int wrong = 0;
    await(&l->step, 1);
    wrong += pthread_rwlock_tryrdlock(&l->lock) != EBUSY;
    wrong += pthread_rwlock_trywrlock(&l->lock) != EBUSY;
    wrong += pthread_rwlock_timedrdlock(&l->lock, &soon) != ETIMEDOUT;
    wrong += pthread_rwlock_timedwrlock(&l->lock, &soon) != ETIMEDOUT;
    atomic_store(&l->step, 2);
    await(&l->step, 3);
    wrong += pthread_rwlock_tryrdlock(&l->lock) != 0;
    wrong += pthread_rwlock_unlock(&l->lock) != 0;
    wrong += pthread_rwlock_trywrlock(&l->lock) != EBUSY;
    atomic_store(&l->step, 4);
    wrong += pthread_rwlock_wrlock(&l->lock) != 0;
    wrong += pthread_rwlock_unlock(&l->lock) != 0;
    return (void*)(intptr_t)wrong;
}

void shared_rwlocks(void) {
    struct lock_of_processes* const l = shared_memory(sizeof *l);
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    SHOW(pthread_rwlockattr_setpshared(&how, PTHREAD_PROCESS_SHARED));
    SHOW(pthread_rwlock_init(&l->lock, &how));
    for (int round = 0; round != 2; ++round) {
        pthread_t t;
        void* kept = NULL;
        atomic_store(&l->step, 0);
        pid_t const child = in_process(is_kept_out, l);
        in_thread(holds_lock, l);
        SHOW(end_of(child));
        atomic_store(&l->step, 0);
        pthread_create(&t, NULL, is_kept_out, l);
        in_thread(holds_lock, l);
        pthread_join(t, &kept);
        SHOW((intptr_t)kept);
        pid_t const other = in_process(reads_and_writes, l);
        pthread_create(&t, NULL, reads_and_writes, l);
        in_thread(reads_and_writes, l);
        pthread_join(t, NULL);
        SHOW(end_of(other));
        SHOW(l->count);
        SHOW(atomic_load(&l->wrong));
    }
    SHOW(pthread_rwlock_destroy(&l->lock));
}

// --- robust mutexes whose owner dies while others wait -------------------------------------------

struct robust {
    pthread_mutex_t mutex;
    atomic_int held, waiting, dead, good, wrong;
};

static void* dies(void* of) {
    struct robust* const r = of;
    if (pthread_mutex_lock(&r->mutex) != 0) return (void*)1;
    atomic_store(&r->held, 1);
    await(&r->waiting, 3);
    usleep(30000);
    return NULL;
}
static void* is_killed(void* of) {
    dies(of);
    kill(getpid(), SIGKILL);
    return of;
}

// The first one that gets it makes it consistent.
static void* waits_for_dead(void* of) {
    struct robust* const r = of;
    struct timespec const until = in_ms_of(CLOCK_REALTIME, 20000);
    int const how = atomic_fetch_add(&r->waiting, 1) == 0
                        ? pthread_mutex_timedlock(&r->mutex, &until)
                        : pthread_mutex_lock(&r->mutex);
    atomic_fetch_add(how == EOWNERDEAD ? &r->dead : how == 0 ? &r->good : &r->wrong, 1);
    if (how == EOWNERDEAD && pthread_mutex_consistent(&r->mutex) != 0)
        atomic_fetch_add(&r->wrong, 1);
    if (pthread_mutex_unlock(&r->mutex) != 0) atomic_fetch_add(&r->wrong, 1);
    return NULL;
}

static void* ends_with(void* m) {
    SHOW(pthread_mutex_lock(m));
    return m;
}
static void* gives_up(void* m) {
    SHOW(pthread_mutex_lock(m) == EOWNERDEAD);
    SHOW(pthread_mutex_unlock(m));
    return m;
}

static void show_robust(struct robust* r, int kind, int is_shared, int protocol, int by_process) {
    pthread_mutexattr_t how;
    pthread_t t[4];
    pid_t child = -1;
    memset(r, 0, sizeof *r);
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, kind);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&how, protocol);
    pthread_mutexattr_setpshared(&how, is_shared);
    SHOW(pthread_mutex_init(&r->mutex, &how));
    if (by_process)
        child = in_process(is_killed, r);
    else
        pthread_create(&t[3], NULL, dies, r);
    await(&r->held, 1);
    for (int k = 0; k != 3; ++k) pthread_create(&t[k], NULL, waits_for_dead, r);
    for (int k = 0; k != 3; ++k) pthread_join(t[k], NULL);
    if (by_process)
        SHOW(end_of(child) == -SIGKILL);
    else
        pthread_join(t[3], NULL);
    SHOW(atomic_load(&r->dead));
    SHOW(atomic_load(&r->good));
    SHOW(atomic_load(&r->wrong));
    in_thread(ends_with, &r->mutex);
    in_thread(gives_up, &r->mutex);
    SHOW(pthread_mutex_trylock(&r->mutex) == ENOTRECOVERABLE);
    SHOW(pthread_mutex_consistent(&r->mutex) == EINVAL);
    SHOW(pthread_mutex_destroy(&r->mutex));
}

void robust_waits(void) {
    struct robust* const r = shared_memory(sizeof *r);
    int const kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    int const protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int p = 0; p != 2; ++p) {
        for (int k = 0; k != 3; ++k) {
            show_robust(r, kinds[k], PTHREAD_PROCESS_PRIVATE, protocols[p], 0);
            show_robust(r, kinds[k], PTHREAD_PROCESS_SHARED, protocols[p], 0);
            show_robust(r, kinds[k], PTHREAD_PROCESS_SHARED, protocols[p], 1);
        }
    }
}

// --- mutexes that inherit priorities and are shared ----------------------------------------------

static void* counts(void* of) {
    struct lock_of_processes* const l = of;
    pthread_mutex_t* const m = (pthread_mutex_t*)(l + 1);
    for (int k = 0; k != 1000; ++k) {
        if (pthread_mutex_lock(m) != 0) atomic_fetch_add(&l->wrong, 1);
        int const seen = l->count;
        if (k % 50 == 0) sched_yield();
        l->count = seen + 1;
        if (pthread_mutex_unlock(m) != 0) atomic_fetch_add(&l->wrong, 1);
    }
    return NULL;
}

void inheriting_mutexes(void) {
    struct lock_of_processes* const l = shared_memory(sizeof *l + sizeof(pthread_mutex_t));
    pthread_mutex_t* const m = (pthread_mutex_t*)(l + 1);
    pthread_mutexattr_t how;
    int ceiling = -1;
    pthread_mutexattr_init(&how);
    SHOW(pthread_mutexattr_setprotocol(&how, 77) == EINVAL);
    SHOW(pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT));
    for (int shared = 0; shared != 2; ++shared) {
        pthread_t t[2];
        pthread_mutexattr_setpshared(&how,
                                     shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        SHOW(pthread_mutex_init(m, &how));
        SHOW(pthread_mutex_getprioceiling(m, &ceiling) == EINVAL);
        l->count = 0;
        pid_t const child = shared ? in_process(counts, l) : -1;
        for (int k = 0; k != 2; ++k) pthread_create(&t[k], NULL, counts, l);
        counts(l);
        for (int k = 0; k != 2; ++k) pthread_join(t[k], NULL);
        if (shared) SHOW(end_of(child));
        SHOW(l->count);
        SHOW(atomic_load(&l->wrong));
        SHOW(pthread_mutex_destroy(m));
    }
}

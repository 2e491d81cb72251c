// SPDX-License-Identifier: Apache-2.0
// Cases of conditions that processes share, and of mutexes with a ceiling.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec soon(void) { return in_ms_of(CLOCK_REALTIME, 20); }

// --- conditions that processes share -------------------------------------------------------------

struct shared_turn {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int turn, waiting;
};

enum { k_turns = 50, k_parties = 4 };

// One of a few threads of two processes that take turns.
static void* takes_turns(void* of) {
    struct shared_turn* const s = of;
    pthread_mutex_lock(&s->mutex);
    int const own = s->waiting++ % k_parties;
    int wrong = 0;
    for (int k = 0; k != k_turns; ++k) {
        while (s->turn % k_parties != own) wrong += pthread_cond_wait(&s->cond, &s->mutex) != 0;
        ++s->turn;
        pthread_cond_broadcast(&s->cond);
    }
    pthread_mutex_unlock(&s->mutex);
    return (void*)(intptr_t)wrong;
}

static int take_turns_by_two(struct shared_turn* s) {
    pthread_t t[2];
    int wrong = 0;
    for (int k = 0; k != 2; ++k) pthread_create(&t[k], NULL, takes_turns, s);
    for (int k = 0; k != 2; ++k) {
        void* result = NULL;
        pthread_join(t[k], &result);
        wrong += (int)(intptr_t)result;
    }
    return wrong;
}

static void* takes_turns_by_two(void* of) { return (void*)(intptr_t)take_turns_by_two(of); }

static void* waits_in_vain(void* of) {
    struct shared_turn* const s = of;
    struct timespec const until = soon();
    pthread_mutex_lock(&s->mutex);
    SHOW(pthread_cond_timedwait(&s->cond, &s->mutex, &until) == ETIMEDOUT);
    SHOW(pthread_mutex_trylock(&s->mutex) != 0);
    pthread_mutex_unlock(&s->mutex);
    return of;
}

static void unlock(void* m) { pthread_mutex_unlock(m); }

// Until it is cancelled; its handler has the mutex.
static void* waits_for_ever(void* of) {
    struct shared_turn* const s = of;
    pthread_mutex_lock(&s->mutex);
    s->waiting = 1;
    pthread_cleanup_push(unlock, &s->mutex);
    for (;;) pthread_cond_wait(&s->cond, &s->mutex);
    pthread_cleanup_pop(0);
    return of;
}

static void cancel_wait(struct shared_turn* s) {
    pthread_t t;
    void* result = NULL;
    s->waiting = 0;
    pthread_create(&t, NULL, waits_for_ever, s);
    for (int waits = 0; !waits; usleep(1000)) {
        pthread_mutex_lock(&s->mutex);
        waits = s->waiting;
        pthread_mutex_unlock(&s->mutex);
    }
    pthread_cancel(t);
    pthread_join(t, &result);
    SHOW(result == PTHREAD_CANCELED);
    SHOW(pthread_mutex_trylock(&s->mutex));
    SHOW(pthread_mutex_unlock(&s->mutex));
}

// Robust: of processes, too; else the mutex may be the one of a process.
static void try_shared_condition(int is_robust, int is_shared) {
    pthread_mutexattr_t how;
    pthread_condattr_t of_cond;
    pthread_mutexattr_init(&how);
    pthread_condattr_init(&of_cond);
    if (is_robust) pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    if (is_shared) pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
    struct shared_turn* const s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_init(&s->mutex, &how);
    pthread_cond_init(&s->cond, &of_cond);
    in_thread(waits_in_vain, s);
    cancel_wait(s);
    s->turn = s->waiting = 0;
    fflush(stdout);
    pid_t const child = is_shared ? fork() : -1;
    if (child == 0) {
        alarm(30);
        _exit(take_turns_by_two(s));
    }
    pthread_t t;
    if (child < 0) pthread_create(&t, NULL, takes_turns_by_two, s);
    SHOW(take_turns_by_two(s));
    if (child < 0)
        pthread_join(t, NULL);
    else
        SHOW(end_of(child));
    SHOW(s->turn);
}

void shared_conditions(void) {
    try_shared_condition(0, 1);
    try_shared_condition(1, 1);
    try_shared_condition(1, 0);
    try_shared_condition(0, 0);
}

// Who has been woken by a signal, and waits for the mutex, is not cancelled there: nobody else
// would get the signal.
static void* waits_once(void* of) {
    struct shared_turn* const s = of;
    pthread_mutex_lock(&s->mutex);
    ++s->waiting;
    pthread_cleanup_push(unlock, &s->mutex);
    pthread_cond_wait(&s->cond, &s->mutex);
    ++s->turn;
    pthread_cleanup_pop(1);
    return NULL;
}

static void await_waiting(struct shared_turn* s, int count) {
    for (int seen = 0; seen != count; usleep(1000)) {
        pthread_mutex_lock(&s->mutex);
        seen = s->waiting;
        pthread_mutex_unlock(&s->mutex);
    }
    usleep(20000); // it waits by now, most times; the end is the same if it does not
}

static void signal_and_cancel(int is_shared) {
    static struct shared_turn s;
    pthread_condattr_t how;
    pthread_t t[2];
    void* result = NULL;
    int seen = 0;
    memset(&s, 0, sizeof s);
    pthread_mutex_init(&s.mutex, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setpshared(&how, is_shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_cond_init(&s.cond, &how);
    for (int k = 0; k != 2; ++k) {
        pthread_create(&t[k], NULL, waits_once, &s);
        await_waiting(&s, k + 1);
    }
    pthread_mutex_lock(&s.mutex);
    pthread_cond_signal(&s.cond);
    usleep(50000); // the first one has got it
    pthread_cancel(t[0]);
    usleep(20000);
    pthread_mutex_unlock(&s.mutex);
    for (int k = 0; k != 2000 && seen == 0; ++k, usleep(1000)) {
        pthread_mutex_lock(&s.mutex);
        seen = s.turn;
        pthread_mutex_unlock(&s.mutex);
    }
    SHOW(seen != 0); // one of the two
    pthread_mutex_lock(&s.mutex);
    pthread_cond_broadcast(&s.cond);
    pthread_mutex_unlock(&s.mutex);
    for (int k = 0; k != 2; ++k) SHOW(pthread_join(t[k], &result));
    SHOW(result == NULL);
}

void signals_to_the_cancelled(void) {
    signal_and_cancel(0);
    signal_and_cancel(1);
}

// --- ceilings ------------------------------------------------------------------------------------

static void init_ceiling(pthread_mutex_t* m, int kind, int ceiling) {
    pthread_mutexattr_t how;
    int protocol = -1, got = -1;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, kind);
    SHOW(pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_PROTECT));
    SHOW(pthread_mutexattr_setprioceiling(&how, ceiling));
    SHOW(pthread_mutexattr_getprotocol(&how, &protocol) == 0 && protocol == PTHREAD_PRIO_PROTECT);
    SHOW(pthread_mutex_init(m, &how));
    SHOW(pthread_mutex_getprioceiling(m, &got));
    SHOW(got);
}

// What needs no right to change the priority of a thread.
static void* has_ceilings(void* argument) {
    pthread_mutex_t m, plain = PTHREAD_MUTEX_INITIALIZER;
    int before = -1, got = -1;
    init_ceiling(&m, PTHREAD_MUTEX_NORMAL, 20);
    SHOW(pthread_mutex_setprioceiling(&m, 0, &before) == EINVAL);
    SHOW(pthread_mutex_setprioceiling(&m, 100, &before) == EINVAL);
    SHOW(pthread_mutex_getprioceiling(&plain, &got) == EINVAL);
    SHOW(pthread_mutex_setprioceiling(&plain, 5, &before) == EINVAL);
    SHOW(pthread_mutex_destroy(&m));
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    SHOW(pthread_mutex_init(&m, &how) == ENOTSUP);
    return argument;
}

void ceilings(void) { in_thread(has_ceilings, NULL); }

static pthread_mutex_t s_ceiling;

static void* counts_below(void* counter) {
    for (int k = 0; k != 1000; ++k) {
        pthread_mutex_lock(&s_ceiling);
        ++*(int*)counter;
        if (k % 50 == 0) sched_yield();
        pthread_mutex_unlock(&s_ceiling);
    }
    return counter;
}

static void* is_above(void* argument) {
    struct sched_param const high = {.sched_priority = 30};
    SHOW(pthread_setschedparam(pthread_self(), SCHED_FIFO, &high));
    SHOW(pthread_mutex_lock(&s_ceiling) == EINVAL);
    SHOW(pthread_mutex_trylock(&s_ceiling) == EINVAL);
    int before = -1;
    SHOW(pthread_mutex_setprioceiling(&s_ceiling, 30, &before));
    SHOW(before);
    SHOW(pthread_mutex_lock(&s_ceiling));
    SHOW(pthread_mutex_setprioceiling(&s_ceiling, 31, &before) == EDEADLK);
    SHOW(pthread_mutex_unlock(&s_ceiling));
    int* volatile nowhere = NULL; // the header warns of a null pointer
    SHOW(pthread_mutex_setprioceiling(&s_ceiling, 32, nowhere));
    SHOW(pthread_mutex_setprioceiling(&s_ceiling, 33, &before));
    SHOW(before);
    return argument;
}

// Upon the C library they need the right to real-time priorities.
void ceiling_locks(void) {
    pthread_t t[4];
    int count = 0;
    init_ceiling(&s_ceiling, PTHREAD_MUTEX_ERRORCHECK, 20);
    for (int k = 0; k != 4; ++k) pthread_create(&t[k], NULL, counts_below, &count);
    for (int k = 0; k != 4; ++k) pthread_join(t[k], NULL);
    SHOW(count);
    in_thread(is_above, NULL);
    SHOW(pthread_mutex_destroy(&s_ceiling));
}

// SPDX-License-Identifier: Apache-2.0
// Cases of locks of one process: what their functions do and refuse.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_cond = PTHREAD_COND_INITIALIZER;
static int s_count;

static void* lock_of_other(void* m) {
    SHOW(pthread_mutex_trylock(m) == EBUSY);
    SHOW(pthread_mutex_unlock(m) == EPERM);
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 10);
    SHOW(pthread_mutex_timedlock(m, &soon) == ETIMEDOUT);
    struct timespec const wrong = {0, 1000000000};
    SHOW(pthread_mutex_timedlock(m, &wrong) == EINVAL);
    return NULL;
}

void mutexes(void) {
    pthread_mutexattr_t how;
    pthread_mutex_t m;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &how);
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_mutex_lock(&m) == EDEADLK);
    SHOW(pthread_mutex_destroy(&m) == EBUSY);
    in_thread(lock_of_other, &m);
    SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_unlock(&m) == EPERM);
    SHOW(pthread_mutex_destroy(&m));
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &how);
    SHOW(pthread_mutex_lock(&m));
    SHOW(pthread_mutex_trylock(&m));
    SHOW(pthread_mutex_unlock(&m));
    in_thread(lock_of_other, &m);
    SHOW(pthread_mutex_unlock(&m));
    SHOW(pthread_mutex_unlock(&m) == EPERM);
    SHOW(pthread_mutex_destroy(&m));
}

// Whoever waits with a mutex that is another's is refused, and changes nothing.
static pthread_mutex_t s_recursive;
static atomic_int s_refused[2];

static void* waits_with_mutex_of_other(void* shared) {
    pthread_condattr_t how;
    pthread_cond_t never;
    struct timespec const until = in_ms_of(CLOCK_REALTIME, 1000);
    pthread_condattr_init(&how);
    if (shared != NULL) pthread_condattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&never, &how);
    atomic_int* const refused = &s_refused[shared != NULL];
    for (int k = 0; k != (shared != NULL ? 50 : 2000); ++k) {
        if (pthread_cond_timedwait(&never, &s_recursive, &until) == EPERM)
            atomic_fetch_add(refused, 1);
        if (k % 8 == 0) usleep(1);
    }
    SHOW(pthread_cond_destroy(&never));
    return shared;
}

static void count_while_others_wait(int kind, int robustness) {
    pthread_mutexattr_t how;
    pthread_t t[2];
    int wrong = 0;
    for (int k = 0; k != 2; ++k) atomic_store(&s_refused[k], 0);
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_setpshared(&how, kind);
    pthread_mutexattr_setrobust(&how, robustness);
    SHOW(pthread_mutex_init(&s_recursive, &how));
    wrong += pthread_mutex_lock(&s_recursive) != 0;
    for (int k = 0; k != 2; ++k)
        pthread_create(&t[k], NULL, waits_with_mutex_of_other, k == 0 ? NULL : &how);
    while (atomic_load(&s_refused[0]) != 2000 || atomic_load(&s_refused[1]) != 50) {
        wrong += pthread_mutex_lock(&s_recursive) != 0;
        if (wrong == 0) wrong += pthread_mutex_unlock(&s_recursive) != 0;
    }
    for (int k = 0; k != 2; ++k) pthread_join(t[k], NULL);
    SHOW(wrong);
    SHOW(pthread_mutex_unlock(&s_recursive));
    SHOW(pthread_mutex_unlock(&s_recursive) == EPERM);
    SHOW(pthread_mutex_destroy(&s_recursive));
}

void mutexes_of_others(void) {
    count_while_others_wait(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED);
    count_while_others_wait(PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED);
    count_while_others_wait(PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_ROBUST);
}

static void* count_up(void* argument) {
    for (int k = 0; k < 20000; ++k) {
        pthread_mutex_lock(argument);
        int const seen = s_count;
        if (k % 64 == 0) sched_yield();
        s_count = seen + 1;
        pthread_mutex_unlock(argument);
    }
    return NULL;
}

void exclusion(void) {
    pthread_t t[8];
    for (int k = 0; k < 8; ++k) pthread_create(&t[k], NULL, count_up, &s_mutex);
    for (int k = 0; k < 8; ++k) pthread_join(t[k], NULL);
    SHOW(s_count);
}

static void* timed_waits(void* argument) {
    (void)argument;
    pthread_condattr_t how;
    pthread_cond_t c;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&c, &how);
    pthread_mutex_lock(&s_mutex);
    struct timespec t = in_ms_of(CLOCK_MONOTONIC, 10);
    SHOW(pthread_cond_timedwait(&c, &s_mutex, &t) == ETIMEDOUT);
    t = in_ms_of(CLOCK_REALTIME, 10);
    SHOW(pthread_cond_timedwait(&s_cond, &s_mutex, &t) == ETIMEDOUT);
    t.tv_nsec = -1;
    SHOW(pthread_cond_timedwait(&s_cond, &s_mutex, &t) == EINVAL);
    SHOW(pthread_mutex_unlock(&s_mutex));
    SHOW(pthread_cond_destroy(&c));
    return NULL;
}

void conditions(void) {
    timed_waits(NULL);
    in_thread(timed_waits, NULL);
}

// Each call that is limited by a time ends when that is over on its clock, not before.
enum { k_timed_calls = 12 };
static struct {
    pthread_mutex_t mutex;
    pthread_rwlock_t read, written;
    pthread_cond_t cond;
    sem_t semaphore;
    pthread_t thread;
} s_timed;

static int call_until(int call, struct timespec const* until) {
    void* result = NULL;
    int error = 0;
    switch (call) {
        case 0: return pthread_mutex_timedlock(&s_timed.mutex, until);
        case 1: return pthread_mutex_clocklock(&s_timed.mutex, CLOCK_MONOTONIC, until);
        case 2: return pthread_rwlock_timedrdlock(&s_timed.written, until);
        case 3: return pthread_rwlock_clockrdlock(&s_timed.written, CLOCK_MONOTONIC, until);
        case 4: return pthread_rwlock_timedwrlock(&s_timed.read, until);
        case 5: return pthread_rwlock_clockwrlock(&s_timed.read, CLOCK_MONOTONIC, until);
        case 6: return sem_timedwait(&s_timed.semaphore, until) == 0 ? 0 : errno;
        case 7: return sem_clockwait(&s_timed.semaphore, CLOCK_MONOTONIC, until) == 0 ? 0 : errno;
        case 8: return pthread_timedjoin_np(s_timed.thread, &result, until);
        case 9: return pthread_clockjoin_np(s_timed.thread, &result, CLOCK_MONOTONIC, until);
        default:
            pthread_mutex_lock(&s_mutex);
            error = call % 2 == 0
                        ? pthread_cond_timedwait(&s_timed.cond, &s_mutex, until)
                        : pthread_cond_clockwait(&s_timed.cond, &s_mutex, CLOCK_MONOTONIC, until);
            pthread_mutex_unlock(&s_mutex);
            return error;
    }
}

static void* hold_written(void* argument) {
    pthread_rwlock_wrlock(&s_timed.written);
    wait_for_count(NULL);
    pthread_rwlock_unlock(&s_timed.written);
    return argument;
}

static void* call_all_until(void* argument) {
    for (int call = 0; call != k_timed_calls; ++call) {
        clockid_t const clock = call % 2 == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        struct timespec const until = in_ms_of(clock, 15), past = {1, 0};
        struct timespec now;
        SHOW(call_until(call, &until) == ETIMEDOUT);
        clock_gettime(clock, &now);
        SHOW(now.tv_sec > until.tv_sec ||
             (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
        SHOW(call_until(call, &past) == ETIMEDOUT);
    }
    return argument;
}

void times(void) {
    pthread_mutex_init(&s_timed.mutex, NULL);
    pthread_rwlock_init(&s_timed.read, NULL);
    pthread_rwlock_init(&s_timed.written, NULL);
    pthread_cond_init(&s_timed.cond, NULL);
    sem_init(&s_timed.semaphore, 0, 0);
    pthread_create(&s_timed.thread, NULL, wait_for_count, NULL);
    pthread_mutex_lock(&s_timed.mutex);
    pthread_rwlock_rdlock(&s_timed.read);
    pthread_t t;
    pthread_create(&t, NULL, hold_written, NULL);
    while (pthread_rwlock_tryrdlock(&s_timed.written) == 0) {
        pthread_rwlock_unlock(&s_timed.written);
        usleep(1000);
    }
    call_all_until(NULL);
    in_thread(call_all_until, NULL);
    set_count();
    pthread_join(t, NULL);
    pthread_join(s_timed.thread, NULL);
    SHOW(pthread_rwlock_trywrlock(&s_timed.written));
}

static void* try_both(void* l) {
    printf("read %d, write %d\n", pthread_rwlock_tryrdlock(l), pthread_rwlock_trywrlock(l));
    struct timespec const soon = in_ms_of(CLOCK_REALTIME, 10);
    SHOW(pthread_rwlock_timedwrlock(l, &soon) == ETIMEDOUT);
    return NULL;
}

void rwlocks(void) {
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    SHOW(pthread_rwlock_rdlock(&l));
    SHOW(pthread_rwlock_rdlock(&l));
    in_thread(try_both, &l);
    for (int k = 0; k < 3; ++k) SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_wrlock(&l));
    SHOW(pthread_rwlock_wrlock(&l) == EDEADLK);
    SHOW(pthread_rwlock_tryrdlock(&l) == EBUSY);
    struct timespec const past = {0, 0}, wrong = {0, -1};
    SHOW(pthread_rwlock_timedrdlock(&l, &past) == EDEADLK);
    SHOW(pthread_rwlock_timedwrlock(&l, &past) == EDEADLK);
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_timedrdlock(&l, &wrong) == EINVAL);
    SHOW(pthread_rwlock_timedwrlock(&l, &wrong) == EINVAL);
    SHOW(pthread_rwlock_clockrdlock(&l, 99, &past) == EINVAL);
    SHOW(pthread_rwlock_timedwrlock(&l, &past));
    SHOW(pthread_rwlock_unlock(&l));
    SHOW(pthread_rwlock_destroy(&l));
}

// --- a writer that comes again at once -----------------------------------------------------------

static pthread_rwlock_t s_contended = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool s_is_over;

static void* writes_again_and_again(void* unused) {
    while (!s_is_over) {
        pthread_rwlock_wrlock(&s_contended);
        usleep(1000);
        pthread_rwlock_unlock(&s_contended);
    }
    return unused;
}

static void* reads_in_between(void* unused) {
    for (int k = 0; k != 10; ++k) {
        pthread_rwlock_rdlock(&s_contended);
        usleep(100);
        pthread_rwlock_unlock(&s_contended);
    }
    return unused;
}

void rwlock_in_turns(void) {
    pthread_t writer, readers[3];
    pthread_create(&writer, NULL, writes_again_and_again, NULL);
    for (int k = 0; k != 3; ++k) pthread_create(&readers[k], NULL, reads_in_between, NULL);
    for (int k = 0; k != 3; ++k) pthread_join(readers[k], NULL);
    s_is_over = true;
    SHOW(pthread_join(writer, NULL));
}

// --- locks that are gone as soon as somebody has got them ----------------------------------------

enum lock_kind { k_of_mutex, k_of_writer, k_of_reader, k_of_semaphore, k_lock_kinds };

union any_lock {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    sem_t semaphore;
    unsigned char bytes[64];
};

static void make_held(union any_lock* l, enum lock_kind kind) {
    switch (kind) {
        case k_of_mutex:
            pthread_mutex_init(&l->mutex, NULL);
            pthread_mutex_lock(&l->mutex);
            break;
        case k_of_writer:
            pthread_rwlock_init(&l->rwlock, NULL);
            pthread_rwlock_wrlock(&l->rwlock);
            break;
        case k_of_reader:
            pthread_rwlock_init(&l->rwlock, NULL);
            pthread_rwlock_rdlock(&l->rwlock);
            break;
        default: sem_init(&l->semaphore, 0, 0);
    }
}

static void let_go(union any_lock* l, enum lock_kind kind) {
    switch (kind) {
        case k_of_mutex: pthread_mutex_unlock(&l->mutex); break;
        case k_of_writer:
        case k_of_reader: pthread_rwlock_unlock(&l->rwlock); break;
        default: sem_post(&l->semaphore);
    }
}

static bool try_to_get(union any_lock* l, enum lock_kind kind) {
    switch (kind) {
        case k_of_mutex: return pthread_mutex_trylock(&l->mutex) == 0;
        case k_of_writer:
        case k_of_reader: return pthread_rwlock_trywrlock(&l->rwlock) == 0;
        default: return sem_trywait(&l->semaphore) == 0;
    }
}

static struct {
    union any_lock lock;
    enum lock_kind kind;
    atomic_int held, left, gone; // the round whose lock is held, was let go of, is gone
    int wrong;
} s_short_lived;

// Of each kind, if there is the time: where both threads have to share a processor with other
// programs, a round may take several milliseconds.
enum { k_short_lived_rounds = 4000, k_short_lived_ms = 1000, k_no_more_rounds = 1 << 30 };

static int wait_for_round(atomic_int const* now, int round) {
    for (int k = 0; atomic_load(now) < round; ++k)
        if (k % 10000 == 9999) sched_yield();
    return atomic_load(now);
}

static bool is_over(struct timespec end) {
    struct timespec const now = in_ms_of(CLOCK_MONOTONIC, 0);
    return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

static void* does_away_with_it(void* unused) {
    enum { k_rubbish = 0x55 };
    union any_lock* const l = &s_short_lived.lock;
    for (int round = 1; wait_for_round(&s_short_lived.held, round) != k_no_more_rounds; ++round) {
        for (int k = 1; !try_to_get(l, s_short_lived.kind); ++k)
            if (k % 10000 == 0) sched_yield();
        memset(l->bytes, k_rubbish, sizeof l->bytes);
        wait_for_round(&s_short_lived.left, round);
        for (size_t k = 0; k != sizeof l->bytes; ++k)
            s_short_lived.wrong += l->bytes[k] != k_rubbish;
        atomic_store(&s_short_lived.gone, round);
    }
    return unused;
}

// Who lets go of a lock has nothing to do with it afterwards.
void locks_that_go(void) {
    for (int kind = 0; kind != k_lock_kinds; ++kind) {
        pthread_t t;
        s_short_lived.kind = (enum lock_kind)kind;
        s_short_lived.held = s_short_lived.left = s_short_lived.gone = 0;
        pthread_create(&t, NULL, does_away_with_it, NULL);
        struct timespec const end = in_ms_of(CLOCK_MONOTONIC, k_short_lived_ms);
        for (int round = 1; round <= k_short_lived_rounds && !is_over(end); ++round) {
            make_held(&s_short_lived.lock, s_short_lived.kind);
            atomic_store(&s_short_lived.held, round);
            for (int k = 0; k != round % 200; ++k) atomic_load(&s_short_lived.gone);
            let_go(&s_short_lived.lock, s_short_lived.kind);
            atomic_store(&s_short_lived.left, round);
            wait_for_round(&s_short_lived.gone, round);
        }
        atomic_store(&s_short_lived.held, k_no_more_rounds);
        pthread_join(t, NULL);
        SHOW(s_short_lived.wrong);
    }
}

// --- the others ----------------------------------------------------------------------------------

static pthread_barrier_t s_barrier;
static int s_serial, s_rounds[100];
static void* meet(void* argument) {
    (void)argument;
    for (int k = 0; k < 100; ++k) {
        __atomic_add_fetch(&s_rounds[k], 1, __ATOMIC_RELAXED);
        if (pthread_barrier_wait(&s_barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&s_serial, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&s_rounds[k], __ATOMIC_RELAXED) != 10) puts("too early");
    }
    return NULL;
}

void barriers(void) {
    SHOW(pthread_barrier_init(&s_barrier, NULL, 0) == EINVAL);
    SHOW(pthread_barrier_init(&s_barrier, NULL, 10));
    pthread_t t[10];
    for (int k = 0; k < 10; ++k) pthread_create(&t[k], NULL, meet, NULL);
    for (int k = 0; k < 10; ++k) pthread_join(t[k], NULL);
    SHOW(s_serial);
    SHOW(pthread_barrier_destroy(&s_barrier));
}

static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static void begin(void) {
    usleep(10000);
    ++s_count;
}
static void* call_once(void* argument) {
    pthread_once(&s_once, begin);
    return argument != NULL && s_count == 1 ? argument : NULL;
}
void once(void) {
    pthread_t t[5];
    for (int k = 0; k < 5; ++k) pthread_create(&t[k], NULL, call_once, t);
    for (int k = 0; k < 5; ++k) {
        void* result = NULL;
        pthread_join(t[k], &result);
        SHOW(result == t);
    }
}

static void* take_three(void* s) {
    for (int k = 0; k < 3; ++k) sem_wait(s);
    return NULL;
}
void semaphores(void) {
    sem_t s;
    int value = -1;
    SHOW(sem_init(&s, 0, 1));
    SHOW(sem_trywait(&s));
    SHOW(sem_trywait(&s) == -1 && errno == EAGAIN);
    struct timespec t = in_ms_of(CLOCK_REALTIME, 10);
    SHOW(sem_timedwait(&s, &t) == -1 && errno == ETIMEDOUT);
    t.tv_nsec = -1;
    SHOW(sem_timedwait(&s, &t) == -1 && errno == EINVAL);
    pthread_t thread;
    pthread_create(&thread, NULL, take_three, &s);
    for (int k = 0; k < 4; ++k) sem_post(&s);
    pthread_join(thread, NULL);
    SHOW(sem_getvalue(&s, &value));
    SHOW(value);
    SHOW(sem_destroy(&s));
    sem_init(&s, 0, SEM_VALUE_MAX);
    SHOW(sem_post(&s) == -1 && errno == EOVERFLOW);
}

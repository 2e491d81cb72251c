// SPDX-License-Identifier: Apache-2.0
// Cases of threads that wait for locks, compute or end while a signal or a cancellation comes.
#define _GNU_SOURCE
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static sem_t s_handled;
static pthread_mutex_t s_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t s_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t s_barrier;
static pthread_spinlock_t s_spin;
static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static atomic_int s_waiting;

static void note(int signal) {
    (void)signal;
    sem_post(&s_handled);
}
static void end_thread(int signal) {
    (void)signal;
    pthread_exit((void*)7);
}

static void handle(int signal, void (*handler)(int)) {
    struct sigaction how = {.sa_handler = handler};
    sigaction(signal, &how, NULL);
}

// Until so many are about to wait, or do so most times: nothing tells from outside. What the cases
// show is the same if one does not yet.
static void until_waiting(int count) {
    while (atomic_load(&s_waiting) != count) sched_yield();
    usleep(20000);
}

// --- handlers run while a thread waits for a lock ------------------------------------------------

static pthread_t s_caller; // of the function that is called once
static sem_t s_goes_on_once;

static void hold_once(void) {
    s_caller = pthread_self();
    atomic_fetch_add(&s_waiting, 1);
    sem_wait(&s_goes_on_once);
}

static void* at_mutex(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_mutex_lock(&s_mutex);
    pthread_mutex_unlock(&s_mutex);
    return unused;
}
static void* reads(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_rwlock_rdlock(&s_rwlock);
    pthread_rwlock_unlock(&s_rwlock);
    return unused;
}
static void* writes(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_rwlock_wrlock(&s_rwlock);
    pthread_rwlock_unlock(&s_rwlock);
    return unused;
}
static void* at_barrier(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_barrier_wait(&s_barrier);
    return unused;
}
static void* spins(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_spin_lock(&s_spin);
    pthread_spin_unlock(&s_spin);
    return unused;
}

enum { k_kinds = 5 };
static void* (*const s_kinds[k_kinds])(void*) = {at_mutex, reads, writes, at_barrier, spins};

static void hold_all(void) {
    pthread_mutex_lock(&s_mutex);
    pthread_rwlock_wrlock(&s_rwlock);
    pthread_spin_init(&s_spin, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&s_spin);
    pthread_barrier_init(&s_barrier, NULL, 2);
}
static void let_go_of_all(void) {
    pthread_mutex_unlock(&s_mutex);
    pthread_rwlock_unlock(&s_rwlock);
    pthread_spin_unlock(&s_spin);
    pthread_barrier_wait(&s_barrier);
}

// Each thread handles its signal while nobody lets go of what it waits for, and waits on.
void handlers_at_locks(void) {
    pthread_t t[k_kinds];
    sem_init(&s_handled, 0, 0);
    handle(SIGUSR1, note);
    hold_all();
    for (int k = 0; k != k_kinds; ++k) pthread_create(&t[k], NULL, s_kinds[k], NULL);
    until_waiting(k_kinds);
    for (int k = 0; k != k_kinds; ++k) {
        SHOW(pthread_kill(t[k], SIGUSR1));
        SHOW(sem_wait(&s_handled));
        SHOW(pthread_tryjoin_np(t[k], NULL) == EBUSY);
    }
    let_go_of_all();
    for (int k = 0; k != k_kinds; ++k) SHOW(pthread_join(t[k], NULL));
}

static void* calls_once(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_once(&s_once, hold_once);
    return unused;
}

// One of the two makes the call, which lasts until the other's handler has run.
void handlers_at_once(void) {
    pthread_t t[2];
    sem_init(&s_handled, 0, 0);
    sem_init(&s_goes_on_once, 0, 0);
    handle(SIGUSR1, note);
    for (int k = 0; k != 2; ++k) pthread_create(&t[k], NULL, calls_once, NULL);
    until_waiting(3);
    SHOW(pthread_kill(t[pthread_equal(t[0], s_caller) ? 1 : 0], SIGUSR1));
    SHOW(sem_wait(&s_handled));
    sem_post(&s_goes_on_once);
    for (int k = 0; k != 2; ++k) SHOW(pthread_join(t[k], NULL));
}

// A handler may end the thread in the midst of its wait; others get the lock.
void ends_at_locks(void) {
    pthread_t t[k_kinds];
    handle(SIGUSR1, end_thread);
    hold_all();
    for (int k = 0; k != k_kinds; ++k) {
        void* result = NULL;
        pthread_create(&t[k], NULL, s_kinds[k], NULL);
        until_waiting(k + 1);
        pthread_kill(t[k], SIGUSR1);
        pthread_join(t[k], &result);
        SHOW((intptr_t)result);
    }
    pthread_mutex_unlock(&s_mutex);
    pthread_rwlock_unlock(&s_rwlock);
    pthread_spin_unlock(&s_spin);
    SHOW(pthread_mutex_lock(&s_mutex));
    SHOW(pthread_rwlock_tryrdlock(&s_rwlock));
    SHOW(pthread_spin_trylock(&s_spin));
}

// --- cancellation at any point -------------------------------------------------------------------

static atomic_int s_cleaned;

static void clean(void* unused) {
    (void)unused;
    atomic_fetch_add(&s_cleaned, 1);
}

static void* any_point_at_mutex(void* unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(clean, NULL);
    at_mutex(unused);
    pthread_cleanup_pop(0);
    return unused;
}
static void* any_point_computing(void* unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(clean, NULL);
    atomic_fetch_add(&s_waiting, 1);
    for (unsigned volatile k = 0;; ++k) {}
    pthread_cleanup_pop(0);
    return unused;
}

static int ends_when_cancelled(void* (*f)(void*)) {
    pthread_t t;
    void* result = NULL;
    int const before = atomic_load(&s_waiting);
    pthread_create(&t, NULL, f, NULL);
    until_waiting(before + 1);
    pthread_cancel(t);
    pthread_join(t, &result);
    return result == PTHREAD_CANCELED;
}

void cancelled_at_mutex(void) {
    pthread_mutex_lock(&s_mutex);
    SHOW(ends_when_cancelled(any_point_at_mutex));
    SHOW(atomic_load(&s_cleaned));
    // A cancellation that waits for a cancellation point waits for the mutex first.
    pthread_t t;
    int const before = atomic_load(&s_waiting);
    pthread_create(&t, NULL, at_mutex, NULL);
    until_waiting(before + 1);
    pthread_cancel(t);
    usleep(20000);
    SHOW(pthread_tryjoin_np(t, NULL) == EBUSY);
    pthread_mutex_unlock(&s_mutex);
    void* result = &t;
    SHOW(pthread_join(t, &result));
    SHOW(result == NULL);
}

void cancelled_computing(void) {
    for (int k = 0; k != 3; ++k) SHOW(ends_when_cancelled(any_point_computing));
    SHOW(atomic_load(&s_cleaned));
}

// Whoever does nothing but yield is interrupted in code of its own next to never.
static void* yields_till_handled(void* unused) {
    atomic_store(&s_waiting, 1);
    while (sem_trywait(&s_handled) != 0)
        for (int k = 0; k != 20; ++k) sched_yield();
    return unused;
}
static void* yields_till_handled_by_c11(void* unused) {
    atomic_store(&s_waiting, 1);
    while (sem_trywait(&s_handled) != 0)
        for (int k = 0; k != 20; ++k) thrd_yield();
    return unused;
}
// Likewise who calls what never waits: a signal has to find it there some time.
static void* tries_till_handled(void* unused) {
    atomic_store(&s_waiting, 1);
    while (sem_trywait(&s_handled) != 0) {}
    return unused;
}

void called_at_tries(void) {
    int rounds = 0;
    sem_init(&s_handled, 0, 0);
    handle(SIGUSR1, note);
    for (; rounds != 15; ++rounds) {
        pthread_t t;
        atomic_store(&s_waiting, 0);
        pthread_create(&t, NULL, tries_till_handled, NULL);
        while (atomic_load(&s_waiting) == 0) sched_yield();
        pthread_kill(t, SIGUSR1);
        pthread_join(t, NULL);
    }
    SHOW(rounds);
}

static void* yields_for_ever(void* unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(clean, NULL);
    atomic_store(&s_waiting, 1);
    for (;;) sched_yield();
    pthread_cleanup_pop(0);
    return unused;
}

void called_at_yields(void) {
    enum { k_rounds = 12 };
    void* (*const yields[])(void*) = {yields_till_handled, yields_till_handled_by_c11,
                                      yields_for_ever};
    int cancelled = 0;
    sem_init(&s_handled, 0, 0);
    handle(SIGUSR1, note);
    for (int k = 0; k != 3 * k_rounds; ++k) {
        pthread_t t;
        void* result = NULL;
        atomic_store(&s_waiting, 0);
        pthread_create(&t, NULL, yields[k % 3], NULL);
        while (atomic_load(&s_waiting) == 0) sched_yield();
        if ((k % 3 == 2 ? pthread_cancel(t) : pthread_kill(t, SIGUSR1)) != 0) abort();
        pthread_join(t, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    SHOW(cancelled);
    SHOW(atomic_load(&s_cleaned));
}

static atomic_int s_shields_down;

// What is shielded computes to its end.
static void* shielded(void* unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    atomic_fetch_add(&s_waiting, 1);
    while (atomic_load(&s_shields_down) == 0) {}
    atomic_fetch_add(&s_cleaned, 1);
    return unused;
}

void cancelled_shielded(void) {
    pthread_t t;
    pthread_create(&t, NULL, shielded, NULL);
    until_waiting(1);
    pthread_cancel(t);
    usleep(20000);
    SHOW(pthread_tryjoin_np(t, NULL) == EBUSY);
    atomic_store(&s_shields_down, 1);
    SHOW(pthread_join(t, NULL));
    SHOW(atomic_load(&s_cleaned));
}

// --- signals that a fault has, and those that nobody blocks --------------------------------------

static volatile sig_atomic_t s_aborts;

static void count_abort(int signal) {
    (void)signal;
    ++s_aborts;
}

static void* blocks_abort(void* unused) {
    sigset_t some, now, pending;
    int got = 0;
    sigemptyset(&some);
    sigaddset(&some, SIGABRT);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    SHOW(raise(SIGABRT));
    SHOW(s_aborts);
    sigpending(&pending);
    SHOW(sigismember(&pending, SIGABRT));
    SHOW(sigwait(&some, &got));
    SHOW(got == SIGABRT);
    SHOW(pthread_kill(pthread_self(), SIGABRT));
    SHOW(s_aborts);
    pthread_sigmask(SIG_UNBLOCK, &some, NULL);
    SHOW(s_aborts);
    sigfillset(&some);
    pthread_sigmask(SIG_SETMASK, &some, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    SHOW(sigismember(&now, SIGKILL));
    SHOW(sigismember(&now, SIGSTOP));
    SHOW(sigismember(&now, SIGTERM));
    return unused;
}

void blocked_aborts(void) {
    handle(SIGABRT, count_abort);
    in_thread(blocks_abort, NULL);
}

static pthread_t s_handles_abort;

static void note_abort_here(int signal) {
    (void)signal;
    s_aborts += pthread_equal(pthread_self(), s_handles_abort) != 0;
    sem_post(&s_handled);
}

// It is for the one thread, which waits.
void aborts_for_one_thread(void) {
    sem_init(&s_handled, 0, 0);
    handle(SIGABRT, note_abort_here);
    pthread_mutex_lock(&s_mutex);
    pthread_create(&s_handles_abort, NULL, at_mutex, NULL);
    until_waiting(1);
    SHOW(pthread_kill(s_handles_abort, SIGABRT));
    SHOW(sem_wait(&s_handled));
    SHOW(s_aborts);
    pthread_mutex_unlock(&s_mutex);
    SHOW(pthread_join(s_handles_abort, NULL));
}

// --- the end of a thread -------------------------------------------------------------------------

static atomic_int s_goes_on;

static sigset_t usr1(void) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    return one;
}

// The only one that gets the signal; it may end at any time.
static void* receives(void* unused) {
    sigset_t const one = usr1();
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    intptr_t kills = 0;
    while (atomic_load(&s_goes_on) != 0) kills += pthread_kill(pthread_self(), 0) == 0;
    return kills != 0 ? unused : NULL;
}
// The next one is sent when the last one has been handled.
static void* sends(void* unused) {
    while (atomic_load(&s_goes_on) != 0) {
        sem_wait(&s_handled);
        kill(getpid(), SIGUSR1);
    }
    return unused;
}

// The receiver ends first. Whether the sender does, too, without help.
static int sender_ends(void) {
    pthread_t receiver, sender;
    struct timespec until;
    sem_init(&s_handled, 0, 1);
    atomic_store(&s_goes_on, 1);
    pthread_create(&receiver, NULL, receives, NULL);
    pthread_create(&sender, NULL, sends, NULL);
    usleep(20000);
    atomic_store(&s_goes_on, 0);
    pthread_join(receiver, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (pthread_timedjoin_np(sender, NULL, &until) == 0) return 1;
    sem_post(&s_handled);
    pthread_join(sender, NULL);
    return 0;
}

// What was sent while the receiver lived is handled. In the C library, too, it may be on its way
// when the receiver ends, once in a blue moon.
void last_signals(void) {
    sigset_t const one = usr1();
    int good = 0;
    handle(SIGUSR1, note);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    for (int k = 0; k != 5; ++k) good += sender_ends();
    SHOW(good >= 4);
}

static int* s_at_exit;

static void note_exit(void) { *s_at_exit = 1; }

static void* ends_child(void* by_exit) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        atexit(note_exit);
        if (by_exit != NULL) pthread_exit((void*)5);
        return NULL;
    }
    int status = -1;
    waitpid(child, &status, 0);
    SHOW(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    SHOW(*s_at_exit);
    *s_at_exit = 0;
    return NULL;
}

// The last thread of a process, which is not its first one, ends it.
void exits_of_children(void) {
    s_at_exit =
        mmap(NULL, sizeof *s_at_exit, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    in_thread(ends_child, NULL);
    in_thread(ends_child, "");
}

// --- joins ---------------------------------------------------------------------------------------

static void* returns(void* unused) { return unused; }

void gone_threads(void) {
    pthread_attr_t how;
    pthread_t t;
    pthread_attr_init(&how);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_create(&t, &how, returns, NULL);
    usleep(50000);
    SHOW(pthread_join(t, NULL) == EINVAL);
    SHOW(pthread_detach(t) == EINVAL);
}

static void* joins_itself(void* unused) {
    SHOW(pthread_tryjoin_np(pthread_self(), NULL) == EBUSY);
    SHOW(pthread_join(pthread_self(), NULL) == EDEADLK);
    SHOW(pthread_detach(pthread_self()));
    SHOW(pthread_tryjoin_np(pthread_self(), NULL) == EBUSY);
    SHOW(pthread_join(pthread_self(), NULL) == EINVAL);
    sem_post(&s_handled);
    return unused;
}
static void* waits_to_end(void* unused) {
    while (atomic_load(&s_goes_on) != 0) usleep(1000);
    return unused;
}
static void* joins_it(void* of) {
    atomic_fetch_add(&s_waiting, 1);
    return (void*)(intptr_t)pthread_join(*(pthread_t*)of, NULL);
}
static void* tries_to_join(void* of) {
    intptr_t busy = 0, tries = 0;
    for (; atomic_load(&s_goes_on) == 2; ++tries)
        busy += pthread_tryjoin_np(*(pthread_t*)of, NULL) == EBUSY;
    return (void*)(tries - busy);
}

void refused_joins(void) {
    pthread_t t, joiner, other;
    struct timespec soon;
    void* result = NULL;
    sem_init(&s_handled, 0, 0);
    pthread_create(&t, NULL, joins_itself, NULL);
    sem_wait(&s_handled);
    // Whoever asks whether it has ended does not keep others from joining it.
    atomic_store(&s_goes_on, 2);
    pthread_create(&t, NULL, waits_to_end, NULL);
    pthread_create(&other, NULL, tries_to_join, &t);
    int refused = 0;
    for (int k = 0; k != 2000; ++k) {
        clock_gettime(CLOCK_REALTIME, &soon);
        refused += pthread_timedjoin_np(t, NULL, &soon) != ETIMEDOUT;
    }
    SHOW(refused);
    pthread_create(&joiner, NULL, joins_it, &t);
    until_waiting(1);
    SHOW(pthread_tryjoin_np(t, NULL) == EBUSY);
    atomic_store(&s_goes_on, 1);
    pthread_join(other, &result);
    SHOW((intptr_t)result);
    atomic_store(&s_goes_on, 0);
    pthread_join(joiner, &result);
    SHOW((intptr_t)result);
}

// On a stack of its own it is an OS thread.
static pthread_t start_on_own_stack(void* (*f)(void*)) {
    enum { k_size = 1 << 18 };
    pthread_attr_t how;
    pthread_t t;
    pthread_attr_init(&how);
    pthread_attr_setstack(&how, aligned_alloc(4096, k_size), k_size);
    pthread_create(&t, &how, f, NULL);
    return t;
}

static pthread_t s_joined;

static void* joins(void* unused) {
    atomic_fetch_add(&s_waiting, 1);
    pthread_join(s_joined, NULL);
    return unused;
}

// Whoever waits for one may be cancelled, and others may join it then.
void joins_of_os_threads(void) {
    pthread_mutex_lock(&s_mutex);
    s_joined = start_on_own_stack(at_mutex);
    until_waiting(1);
    SHOW(ends_when_cancelled(joins));
    pthread_mutex_unlock(&s_mutex);
    SHOW(in_thread(joins, &s_mutex) == &s_mutex);
}

static void* shows_scheduling(void* unused) {
    int policy = -1;
    struct sched_param how;
    SHOW(pthread_getschedparam(pthread_self(), &policy, &how));
    SHOW(policy == SCHED_BATCH);
    return unused;
}

void inherited_scheduling(void) {
    struct sched_param how = {0};
    SHOW(pthread_setschedparam(pthread_self(), SCHED_BATCH, &how));
    in_thread(shows_scheduling, NULL);
}

// --- a crowd at what processes share -------------------------------------------------------------

enum { k_crowd = 100 };

struct shared_door {
    pthread_mutex_t mutex;
    pthread_cond_t opens;
    int inside, is_open;
};

static void* comes_in(void* of) {
    struct shared_door* const d = of;
    pthread_mutex_lock(&d->mutex);
    ++d->inside;
    while (!d->is_open) pthread_cond_wait(&d->opens, &d->mutex);
    --d->inside;
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

static void share(struct shared_door* d) {
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_cond;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_cond);
    pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
    memset(d, 0, sizeof *d);
    pthread_mutex_init(&d->mutex, &of_mutex);
    pthread_cond_init(&d->opens, &of_cond);
}

static int inside(struct shared_door* d) {
    pthread_mutex_lock(&d->mutex);
    int const count = d->inside;
    pthread_mutex_unlock(&d->mutex);
    return count;
}

// More than there are workers that come in for those in the kernel.
void crowds_at_shared_mutexes(void) {
    static struct shared_door s_door;
    pthread_t t[k_crowd];
    share(&s_door);
    pthread_mutex_lock(&s_door.mutex);
    for (int k = 0; k != k_crowd; ++k) pthread_create(&t[k], NULL, comes_in, &s_door);
    usleep(50000);
    pthread_mutex_unlock(&s_door.mutex);
    while (inside(&s_door) != k_crowd) usleep(1000);
    pthread_mutex_lock(&s_door.mutex);
    s_door.is_open = 1;
    pthread_cond_broadcast(&s_door.opens);
    pthread_mutex_unlock(&s_door.mutex);
    for (int k = 0; k != k_crowd; ++k) pthread_join(t[k], NULL);
    SHOW(inside(&s_door));
}

// --- calls that wait for the disk ----------------------------------------------------------------

static int helpers(void) {
    int count = 0;
    DIR* const tasks = opendir("/proc/self/task");
    for (struct dirent* task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE* const file = fopen(path, "r");
        if (file == NULL) continue;
        if (fgets(name, sizeof name, file) != NULL && strcmp(name, "tulle-call\n") == 0) ++count;
        fclose(file);
    }
    closedir(tasks);
    return count;
}
static void* sync_after_a_while(void* unused) {
    char name[] = "/tmp/tulle-sync-XXXXXX";
    int const number = mkstemp(name);
    if (number < 0) abort();
    unlink(name);
    usleep(3000); // the other workers sleep by then
    if (write(number, "s", 1) != 1 || fsync(number) != 0) abort();
    close(number);
    return unused;
}
void syncs_beside_sleepers(void) {
    in_thread(&sync_after_a_while, NULL);
    printf("helpers: %d\n", helpers() != 0);
}

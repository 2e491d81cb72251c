// SPDX-License-Identifier: Apache-2.0
// Cases of signals that a process sends to itself: whoever is to get one has it when kill returns,
// and the caller has handled it if it is the only one that wants it (POSIX, kill).
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int s_handled, s_ready, s_goes_on;
static atomic_intptr_t s_handled_by;

static void count_one(int number) {
    (void)number;
    atomic_store(&s_handled_by, (intptr_t)pthread_self());
    atomic_fetch_add(&s_handled, 1);
}

static sigset_t own(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}

static void block_own(void) {
    sigset_t const set = own();
    if (signal(SIGUSR1, count_one) == SIG_ERR) abort();
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) abort();
}
static void unblock_own(void) {
    sigset_t const set = own();
    if (pthread_sigmask(SIG_UNBLOCK, &set, NULL) != 0) abort();
}

// --- the caller is the only one that wants it ----------------------------------------------------

enum { k_rounds = 500 };

static void* kills_itself(void* unused) {
    int by_kill = 0, by_queue = 0;
    union sigval value;
    memset(&value, 0, sizeof value);
    unblock_own();
    for (int k = 0; k != k_rounds; ++k) {
        atomic_store(&s_handled, 0);
        kill(getpid(), SIGUSR1);
        by_kill += atomic_load(&s_handled) == 1;
        sigqueue(getpid(), SIGUSR1, value);
        by_queue += atomic_load(&s_handled) == 2;
    }
    printf("handled at once: %d, %d\n", by_kill, by_queue);
    SHOW(atomic_load(&s_handled_by) == (intptr_t)pthread_self());
    return unused;
}

static void* kills_with_standard_action(void* unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    static char const k_lives[] = "it goes on\n";
    if (write(STDOUT_FILENO, k_lives, sizeof k_lives - 1) < 0) abort();
    return unused;
}

void kills_of_callers(void) {
    block_own();
    in_thread(kills_itself, NULL);
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        in_thread(kills_with_standard_action, NULL);
        _exit(0);
    }
    SHOW(end_of(child) == -SIGTERM);
}

// --- nobody wants it -----------------------------------------------------------------------------

// Till all workers know that nobody wants it: the first ones may be in their hands for a moment.
static void await_pending(void) {
    for (int seen = 0; seen != 3; usleep(2000)) {
        sigset_t now;
        sigpending(&now);
        seen = sigismember(&now, SIGUSR1) == 1 ? seen + 1 : 0;
    }
}

static void* takes_blocked(void* argument) {
    sigset_t const set = own();
    struct timespec const at_once = {0, 0};
    int pending = 0, taken = 0;
    for (int k = 0; k != k_rounds; ++k) {
        sigset_t now;
        kill(getpid(), SIGUSR1);
        if (k < 20) await_pending();
        sigpending(&now);
        pending += sigismember(&now, SIGUSR1);
        taken += sigtimedwait(&set, NULL, &at_once) == SIGUSR1;
    }
    printf("pending: %d, taken: %d\n", pending, taken);
    return argument;
}

static void* unblocks(void* argument) {
    int handled = 0;
    for (int k = 0; k != 30; ++k) {
        atomic_store(&s_handled, 0);
        kill(getpid(), SIGUSR1);
        await_pending();
        unblock_own();
        handled += atomic_load(&s_handled) == 1;
        block_own();
    }
    printf("handled as it is unblocked: %d\n", handled);
    return argument;
}

void kills_that_are_blocked(void) {
    block_own();
    in_both(takes_blocked);
    in_both(unblocks);
}

// --- the only one that wants it ends -------------------------------------------------------------

static void* ends_soon(void* unused) {
    unblock_own();
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_goes_on) != 0) sched_yield();
    return unused;
}

static void kill_from_child(void) {
    pid_t const child = fork();
    if (child == 0) {
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    if (end_of(child) != 0) abort();
}

// Whoever it is that sends it blocks it.
static int handled_by_who_ends(int rounds, int by_child) {
    int handled = 0;
    for (int k = 0; k != rounds; ++k) {
        pthread_t receiver;
        atomic_store(&s_handled, 0);
        atomic_store(&s_ready, 0);
        atomic_store(&s_goes_on, 1);
        pthread_create(&receiver, NULL, ends_soon, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        if (by_child != 0)
            kill_from_child();
        else
            kill(getpid(), SIGUSR1);
        atomic_store(&s_goes_on, 0);
        pthread_join(receiver, NULL);
        handled += atomic_load(&s_handled) == 1;
    }
    return handled;
}
static void* kills_who_ends(void* argument) {
    printf("handled: %d\n", handled_by_who_ends(k_rounds, 0));
    printf("of another process: %d\n", handled_by_who_ends(100, 1));
    return argument;
}

void kills_at_ends(void) {
    block_own();
    in_both(kills_who_ends);
}

// Destructors of keys run when the function of a thread has returned; handlers do, too.
static pthread_key_t s_key;

static void kill_own(void* value) {
    (void)value;
    kill(getpid(), SIGUSR1);
}
static void* has_value(void* unused) {
    unblock_own();
    pthread_setspecific(s_key, &s_key);
    return unused;
}
static void end_caller(int number) {
    count_one(number);
    pthread_exit(NULL);
}
static void* is_killed_at_end(void* unused) {
    sigset_t const set = own();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return unused;
}

void kills_by_destructors(void) {
    block_own();
    pthread_key_create(&s_key, kill_own);
    in_thread(has_value, NULL);
    SHOW(atomic_load(&s_handled));
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_caller;
    sigaction(SIGUSR1, &action, NULL);
    for (int k = 0; k != 2000; ++k) {
        pthread_t receiver;
        pthread_create(&receiver, NULL, is_killed_at_end, NULL);
        if (k % 2 == 0) sched_yield();
        pthread_kill(receiver, SIGUSR1);
        pthread_join(receiver, NULL);
    }
    printf("ended\n");
}

// --- main has ended ------------------------------------------------------------------------------

static pthread_t s_main;

static void* kills_after_main(void* unused) {
    (void)unused;
    pthread_join(s_main, NULL);
    usleep(20000);
    block_own();
    atomic_store(&s_handled, 0);
    kill(getpid(), SIGUSR1);
    usleep(20000);
    SHOW(atomic_load(&s_handled));
    unblock_own();
    SHOW(atomic_load(&s_handled));
    exit(0);
}

// Main would have wanted it.
void kills_without_main(void) {
    pthread_t other;
    s_main = pthread_self();
    pthread_create(&other, NULL, kills_after_main, NULL);
    pthread_exit(NULL);
}

// --- by handlers ---------------------------------------------------------------------------------

static pthread_t s_receiver;
static atomic_int s_alarms;

static void pass_on(int number) {
    (void)number;
    atomic_fetch_add(&s_alarms, 1);
    pthread_kill(s_receiver, SIGUSR1);
}
static void* waits_for_signals(void* unused) {
    while (atomic_load(&s_goes_on) != 0) usleep(100000);
    return unused;
}

// A handler of main signals a thread while main does: it may have interrupted that.
void kills_by_handlers(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_one;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = pass_on;
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    atomic_store(&s_goes_on, 1);
    pthread_create(&s_receiver, NULL, waits_for_signals, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    struct itimerval const often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (atomic_load(&s_alarms) < 4000) pthread_kill(s_receiver, SIGUSR1);
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&s_goes_on, 0);
    pthread_kill(s_receiver, SIGUSR1);
    pthread_join(s_receiver, NULL);
    SHOW(atomic_load(&s_handled) != 0);
}

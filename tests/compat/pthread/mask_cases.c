// SPDX-License-Identifier: Apache-2.0
// Cases of signals that come for the process while a handler keeps them out of the only thread that
// wants them; and of what threads tell the kernel of their masks.
#define _GNU_SOURCE
#include "cases.h"
#include "filters.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum way { in_a_wait, while_it_computes, after_an_interruption };

static enum way s_way;
static sem_t s_end;
static atomic_int s_ready, s_handled, s_early;

static void keep_out(int number) {
    (void)number;
    int const error = errno;
    sigset_t pending;
    kill(getpid(), SIGUSR2);
    do {
        sched_yield();
        sigpending(&pending);
    } while (sigismember(&pending, SIGUSR2) == 0);
    if (atomic_load(&s_handled) != 0) atomic_fetch_add(&s_early, 1);
    errno = error;
}

static void end_wait(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
    sem_post(&s_end);
}

static void* wants_both(void* signals) {
    SHOW(pthread_sigmask(SIG_UNBLOCK, signals, NULL));
    atomic_store(&s_ready, 1);
    if (s_way != after_an_interruption) SHOW(raise(SIGUSR1));
    if (s_way == in_a_wait)
        while (sem_wait(&s_end) != 0) {}
    while (atomic_load(&s_handled) == 0) {}
    return signals;
}

static void keep_out_of(enum way way, sigset_t* signals) {
    pthread_t t;
    s_way = way;
    for (int round = 0; round != 3; ++round) {
        atomic_store(&s_handled, 0);
        atomic_store(&s_ready, 0);
        sem_init(&s_end, 0, 0);
        pthread_create(&t, NULL, wants_both, signals);
        if (way == after_an_interruption) {
            while (atomic_load(&s_ready) == 0) sched_yield();
            kill(getpid(), SIGUSR1);
        }
        pthread_join(t, NULL);
        SHOW(atomic_load(&s_handled));
    }
    SHOW(atomic_load(&s_early));
}

static sigset_t* prepare(void) {
    static sigset_t s_signals;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_wait;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = keep_out;
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    sigaddset(&s_signals, SIGUSR1);
    sigaddset(&s_signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &s_signals, NULL);
    return &s_signals;
}

void kept_out_of_waits(void) { keep_out_of(in_a_wait, prepare()); }

void kept_out_of_computing(void) {
    sigset_t* const signals = prepare();
    keep_out_of(while_it_computes, signals);
    keep_out_of(after_an_interruption, signals);
}

static atomic_int s_mask_calls;

static void count_mask_call(int number) {
    (void)number;
    atomic_fetch_add(&s_mask_calls, 1);
}

// From now on the kernel does not do what the caller's OS thread says of its mask, but has that
// counted. 0, or -1 where that is not allowed.
static int count_mask_calls(void) {
    signal(SIGSYS, count_mask_call);
    return filter_call(SYS_rt_sigprocmask, SECCOMP_RET_TRAP);
}

static void* return_at_once(void* unused) { return unused; }

static void* start_and_join(void* threads) {
    for (int k = 0; k != *(int*)threads; ++k) {
        pthread_t t;
        pthread_create(&t, NULL, return_at_once, NULL);
        pthread_join(t, NULL);
    }
    return threads;
}

// On the only worker.
static void* start_many(void* unused) {
    int few = 100, many = 1000;
    start_and_join(&few);
    if (count_mask_calls() != 0) return puts("calls cannot be counted"), unused;
    start_and_join(&many);
    printf("calls: %d\n", atomic_load(&s_mask_calls));
    return unused;
}

// Nobody wants a signal, for a while; afterwards threads start that do. They tell the kernel so
// until each worker has it, not each of them.
void starts_after_unwanted(void) {
    sigset_t signals, pending;
    int found = 0, one = 1;
    signal(SIGUSR1, end_wait);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    in_thread(start_and_join, &one);
    kill(getpid(), SIGUSR1);
    do {
        usleep(50000); // the worker has got it
        sigpending(&pending);
    } while (sigismember(&pending, SIGUSR1) == 0);
    sigwait(&signals, &found);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    in_thread(start_many, NULL);
}

// --- main has ended ------------------------------------------------------------------------------

static pthread_t s_main;

static void count_handled(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}
static void send_late(int number) {
    if (fork() != 0) return;
    usleep(20000);
    kill(getppid(), number);
    _exit(0);
}
static void* waits_and_computes(void* signals) {
    pthread_join(s_main, NULL);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    for (int round = 1; round != 7; ++round) {
        send_late(SIGUSR1);
        while (atomic_load(&s_handled) != round)
            if (round % 2 == 0) usleep(1000);
        while (waitpid(-1, NULL, 0) < 0) {}
        SHOW(atomic_load(&s_handled));
    }
    exit(0);
}

// What comes for the process is for the only thread that is left, which computes or waits.
void signals_after_main(void) {
    static sigset_t s_one;
    pthread_t t;
    signal(SIGUSR1, count_handled);
    sigemptyset(&s_one);
    sigaddset(&s_one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &s_one, NULL);
    s_main = pthread_self();
    pthread_create(&t, NULL, waits_and_computes, &s_one);
    pthread_exit(NULL);
}

// --- a signal for one thread, which computes -----------------------------------------------------

static pthread_t s_handled_on;

static void note_thread(int number) {
    (void)number;
    s_handled_on = pthread_self();
    atomic_fetch_add(&s_handled, 1);
}
static void* computes_between_pauses(void* rounds) {
    for (int round = 1; round <= *(int*)rounds; ++round) {
        usleep(2000); // which other worker it goes on with is not known
        atomic_store(&s_ready, round);
        while (atomic_load(&s_handled) < round) {}
        atomic_fetch_add(&s_early, pthread_equal(s_handled_on, pthread_self()) == 0);
    }
    return NULL;
}
static void* computes_beside(void* end) {
    while (atomic_load((atomic_int*)end) == 0) {}
    return NULL;
}

void interrupted_one_by_one(void) {
    int rounds = 20;
    atomic_int end = 0;
    pthread_t t, beside;
    signal(SIGUSR1, note_thread);
    pthread_create(&beside, NULL, computes_beside, &end);
    pthread_create(&t, NULL, computes_between_pauses, &rounds);
    for (int round = 1; round <= rounds; ++round) {
        while (atomic_load(&s_ready) != round) usleep(100);
        pthread_kill(t, SIGUSR1);
    }
    pthread_join(t, NULL);
    atomic_store(&end, 1);
    pthread_join(beside, NULL);
    SHOW(atomic_load(&s_handled));
    SHOW(atomic_load(&s_early));
}

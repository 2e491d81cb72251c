// SPDX-License-Identifier: Apache-2.0
// Cases of signals that come for the process while a handler keeps them out of the only thread that
// wants them.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
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

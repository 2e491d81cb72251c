// SPDX-License-Identifier: Apache-2.0
// What a program takes from itself once it has threads.
#define _GNU_SOURCE
#include "cases.h"
#include "filters.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

// --- calls that the kernel refuses from now on ---------------------------------------------------

enum { k_rounds = 50 };
static pthread_barrier_t s_all;
static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t s_turns = PTHREAD_COND_INITIALIZER;
static int s_turn;

static void refuse_newer_calls(void) {
    static int const calls[] = {SYS_membarrier, SYS_clone3, 441 /* epoll_pwait2 */,
                                449 /* futex_waitv */, 425 /* io_uring_setup */};
    for (size_t k = 0; k != sizeof calls / sizeof *calls; ++k)
        filter_call(calls[k], SECCOMP_RET_ERRNO | ENOSYS);
}
// Each waits for the other, and so the worker that has run it has nothing to do for a while.
static void* takes_turns(void* which) {
    int const own = (int)(intptr_t)which;
    refuse_newer_calls();
    for (int k = 0; k != k_rounds; ++k) {
        pthread_mutex_lock(&s_lock);
        while (s_turn != own) pthread_cond_wait(&s_turns, &s_lock);
        s_turn = 1 - own;
        pthread_cond_broadcast(&s_turns);
        pthread_mutex_unlock(&s_lock);
        if (k % 10 == 0) usleep(1000);
    }
    return NULL;
}
static void* refuses(void* unused) {
    pthread_barrier_wait(&s_all);
    refuse_newer_calls();
    pthread_barrier_wait(&s_all);
    return unused;
}
void calls_refused_later(void) {
    enum { k_threads = 8 };
    pthread_t t[k_threads];
    pthread_barrier_init(&s_all, NULL, k_threads);
    for (int k = 0; k != k_threads; ++k) pthread_create(&t[k], NULL, refuses, NULL);
    for (int k = 0; k != k_threads; ++k) pthread_join(t[k], NULL);
    pthread_create(&t[0], NULL, takes_turns, (void*)0);
    pthread_create(&t[1], NULL, takes_turns, (void*)1);
    refuse_newer_calls();
    for (int k = 0; k != 2; ++k) SHOW(pthread_join(t[k], NULL));
    SHOW(s_turn);
}

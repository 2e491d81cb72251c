/* SPDX-License-Identifier: Apache-2.0 */
/* The C functions of synchronisation in C11: static objects, foreign threads, errors as values. */
#include <tulle/c/sync.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 20000

static tulle_mutex_t mutex = TULLE_MUTEX_INIT;
static tulle_cond_t filled = TULLE_COND_INIT;
static tulle_barrier_t together = TULLE_BARRIER_INIT(THREADS);
static tulle_latch_t ready = TULLE_LATCH_INIT(THREADS);
static tulle_signal_t finished = TULLE_SIGNAL_INIT(THREADS);
static tulle_once_t once = TULLE_ONCE_INIT;
static long sum;
static int set_up;

static void expect(int is_true, char const* what) {
    if (is_true) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void count_set_up(void* by) { set_up += *(int*)by; }

static void* run(void* unused) {
    int one = 1;
    expect(tulle_once(&once, count_set_up, &one) == 0, "once");
    expect(tulle_barrier_wait(&together) == 0, "barrier");
    for (int i = 0; i < ROUNDS; ++i) {
        expect(tulle_mutex_lock(&mutex) == 0, "lock");
        ++sum;
        if (sum == (long)THREADS * ROUNDS) expect(tulle_cond_broadcast(&filled) == 0, "broadcast");
        expect(tulle_mutex_unlock(&mutex) == 0, "unlock");
    }
    expect(tulle_latch_arrive_and_wait(&ready, 1) == 0, "latch");
    expect(tulle_signal_notify(&finished) == 0, "notify");
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    expect(tulle_signal_timedwait(&finished, 1000) == -ETIMEDOUT, "a signal times out");
    for (int i = 0; i < THREADS; ++i)
        expect(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
    expect(tulle_mutex_lock(&mutex) == 0, "lock");
    while (sum < (long)THREADS * ROUNDS) expect(tulle_cond_wait(&filled, &mutex) == 0, "wait");
    expect(tulle_mutex_unlock(&mutex) == 0, "unlock");
    expect(tulle_signal_wait(&finished) == 0, "signal");
    for (int i = 0; i < THREADS; ++i) expect(pthread_join(threads[i], NULL) == 0, "pthread_join");
    expect(set_up == 1, "set up once");
    expect(tulle_mutex_unlock(&mutex) == -EPERM, "nobody holds it");
    expect(tulle_mutex_lock(NULL) == -EINVAL, "null pointer");
    return 0;
}

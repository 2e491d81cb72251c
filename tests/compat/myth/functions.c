/* SPDX-License-Identifier: Apache-2.0 */
/* A program of C11 that uses what programs for MassiveThreads use, against the shared library. */
#include "check.h"

#include <myth/myth.h>

#include <errno.h>
#include <string.h>

enum { THREADS = 50, ROUNDS = 20 };

static myth_mutex_t s_mutex = MYTH_MUTEX_INITIALIZER;
static myth_cond_t s_cond = MYTH_COND_INITIALIZER;
static myth_rwlock_t s_rwlock = MYTH_RWLOCK_INITIALIZER;
static myth_once_t s_once = MYTH_ONCE_INIT;
static myth_once_t s_short_once = {0}; /* as programs have it */
static myth_spinlock_t s_spin = MYTH_SPINLOCK_INITIALIZER;
static myth_sleep_queue_t s_queue = MYTH_SLEEP_QUEUE_INITIALIZER;
static myth_barrier_t s_barrier;
static myth_join_counter_t s_counter;
static myth_key_t s_key;
static long s_count, s_onces, s_serial, s_waiting;
static int s_go;

static void count_once(void) { ++s_onces; }

static void* leave(void* number) { myth_exit((char*)number + 1); }

static void* work(void* number) {
    CHECK(myth_once(&s_once, &count_once) == 0 && myth_once(&s_short_once, &count_once) == 0);
    CHECK(myth_setspecific(s_key, number) == 0);
    CHECK(myth_mutex_lock(&s_mutex) == 0);
    ++s_waiting;
    while (!s_go) CHECK(myth_cond_wait(&s_cond, &s_mutex) == 0);
    CHECK(myth_mutex_unlock(&s_mutex) == 0);
    for (int round = 0; round < ROUNDS; ++round) {
        CHECK(myth_rwlock_wrlock(&s_rwlock) == 0);
        ++s_count;
        CHECK(myth_rwlock_unlock(&s_rwlock) == 0);
        if (myth_barrier_wait(&s_barrier) == MYTH_BARRIER_SERIAL_THREAD) {
            CHECK(myth_spin_lock(&s_spin) == 0);
            ++s_serial;
            CHECK(myth_spin_unlock(&s_spin) == 0);
        }
    }
    CHECK(myth_getspecific(s_key) == number);
    CHECK(myth_join_counter_dec(&s_counter) == 0);
    return myth_self();
}

static void all_together(void) {
    myth_thread_t all[THREADS];
    CHECK(myth_key_create(&s_key, NULL) == 0);
    CHECK(myth_barrier_init(&s_barrier, NULL, THREADS) == 0);
    CHECK(myth_join_counter_init(&s_counter, NULL, THREADS) == 0);
    for (size_t k = 0; k < THREADS; ++k) CHECK((all[k] = myth_create(&work, &all[k])) != NULL);
    for (int are_there = 0; !are_there;) {
        CHECK(myth_mutex_lock(&s_mutex) == 0);
        are_there = s_waiting == THREADS;
        s_go = are_there;
        CHECK(myth_mutex_unlock(&s_mutex) == 0);
        myth_yield();
    }
    CHECK(myth_cond_broadcast(&s_cond) == 0);
    CHECK(myth_join_counter_wait(&s_counter) == 0);
    for (size_t k = 0; k < THREADS; ++k) {
        void* result = NULL;
        CHECK(myth_join(all[k], &result) == 0 && result == all[k]);
    }
    CHECK(s_count == THREADS * ROUNDS && s_serial == ROUNDS && s_onces == 2);
    CHECK(myth_barrier_destroy(&s_barrier) == 0 && myth_key_delete(s_key) == 0);
    CHECK(myth_mutex_destroy(&s_mutex) == 0 && myth_cond_destroy(&s_cond) == 0 &&
          myth_rwlock_destroy(&s_rwlock) == 0);
}

int main(void) {
    void* result = NULL;
    /* The first call starts it. */
    CHECK(myth_join(myth_create(&leave, (void*)41), &result) == 0 && result == (void*)42);
    CHECK(myth_get_num_workers() >= 1 && myth_init() == 1);
    CHECK(s_queue.head == NULL && s_queue.tail == NULL);
    all_together();
    errno = 0;
    CHECK(myth_create(NULL, NULL) == NULL && errno == EINVAL);
    CHECK(myth_join(NULL, NULL) == EINVAL);
    myth_fini();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of all nodes: nobody leaves a round before all have come, one thread of each round is
 * told so, also where more threads use it than it waits for; threads that a barrier which is gone
 * lets go. */
#include "check.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <tnt.h>

enum { ROUNDS = 30, MOST = 40 };

typedef struct {
    tnt_barrier_t barrier;
    tnt_mutex_t mutex;
    int threads;
    int rounds;
    int arrived[ROUNDS]; /* under the mutex, as is the next */
    int serial;
    int left;
} world;

/* What nobody changes: what threads may read without the mutex. */
static world constants_of(world const* shared) {
    world own;
    CHECK(tnt_read(&own, shared, offsetof(world, arrived)) == 0);
    return own;
}

/* Changes a number of the shared world, and returns what it is then. */
static int add(tnt_mutex_t const* mutex, int* number, int n) {
    int value = 0;
    CHECK(tnt_mutex_lock(mutex) == 0);
    CHECK(tnt_read(&value, number, sizeof value) == 0);
    value += n;
    CHECK(tnt_write(number, &value, sizeof value) == 0);
    CHECK(tnt_mutex_unlock(mutex) == 0);
    return value;
}

static void* take_part(void* argument) {
    world* const shared = argument;
    world const own = constants_of(shared);
    for (int round = 0; round < own.rounds; ++round) {
        add(&own.mutex, &shared->arrived[round], 1);
        int const result = tnt_barrier_wait(&own.barrier);
        CHECK(result == 0 || result == TNT_BARRIER_SERIAL_THREAD);
        if (result == TNT_BARRIER_SERIAL_THREAD) add(&own.mutex, &shared->serial, 1);
        CHECK(add(&own.mutex, &shared->arrived[round], 0) == own.threads);
    }
    return NULL;
}

static world* make(int threads, int rounds, int waits_for) {
    world w = {.threads = threads, .rounds = rounds};
    CHECK(tnt_barrier_init(&w.barrier, (unsigned)waits_for) == 0 && tnt_mutex_init(&w.mutex) == 0);
    world* const shared = tnt_malloc(sizeof w);
    CHECK(shared != NULL && tnt_write(shared, &w, sizeof w) == 0);
    return shared;
}
static world end(world* shared) {
    world w;
    CHECK(tnt_read(&w, shared, sizeof w) == 0);
    CHECK(tnt_barrier_destroy(&w.barrier) == 0 && tnt_mutex_destroy(&w.mutex) == 0);
    tnt_free(shared);
    return w;
}

static void run(int threads, void* (*body)(void*), world* shared) {
    tnt_t all[MOST];
    for (int t = 0; t < threads; ++t)
        CHECK(tnt_create_at(&all[t], t % tnt_nodes(), body, shared) == 0);
    for (int t = 0; t < threads; ++t) CHECK(tnt_join(all[t], NULL) == 0);
}

static void rounds_of(int threads) {
    world* const shared = make(threads, ROUNDS, threads);
    run(threads, &take_part, shared);
    CHECK(end(shared).serial == ROUNDS);
}

/* Each waits once, at a barrier of fewer. */
static void* wait_once(void* argument) {
    world* const shared = argument;
    world const own = constants_of(shared);
    int const result = tnt_barrier_wait(&own.barrier);
    CHECK(result == 0 || result == TNT_BARRIER_SERIAL_THREAD);
    add(&own.mutex, &shared->serial, result == TNT_BARRIER_SERIAL_THREAD);
    add(&own.mutex, &shared->left, 1);
    return NULL;
}
static void more_threads_than_it_waits_for(int threads, int waits_for) {
    world* const shared = make(threads, 1, waits_for);
    run(threads, &wait_once, shared);
    world const w = end(shared);
    CHECK(w.left == threads && w.serial == threads / waits_for);
}

static void* wait_in_vain(void* argument) {
    world* const shared = argument;
    world const own = constants_of(shared);
    CHECK(tnt_barrier_wait(&own.barrier) == EINVAL);
    return NULL;
}
static void one_that_is_gone(void) {
    world* const shared = make(1, 1, 2);
    world w;
    CHECK(tnt_read(&w, shared, sizeof w) == 0);
    CHECK(tnt_barrier_destroy(&w.barrier) == 0);
    run(12, &wait_in_vain, shared);
    CHECK(tnt_barrier_destroy(&w.barrier) == EINVAL);
    tnt_free(shared);
}

int main(void) {
    rounds_of(1);
    rounds_of(tnt_nodes());
    rounds_of(MOST);
    more_threads_than_it_waits_for(MOST, 8);
    more_threads_than_it_waits_for(MOST, 1);
    more_threads_than_it_waits_for(MOST, 5);
    one_that_is_gone();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes that several nodes use: one at a time has it, whether it goes home with each unlock or
 * stays at a node; who tries, and whose time is up, leaves nothing behind; a mutex that nobody has
 * locked is free, wherever it has stayed; owners, unlocks by other nodes, and mutexes that are
 * gone. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tnt.h>

enum { TIMES = 60, THREADS = 8 };

typedef struct {
    tnt_mutex_t mutex;
    int count;   /* under the mutex, as are the next */
    int in_time; /* that got it within the limit */
    int in_vain; /* that did not; under `results` */
    tnt_mutex_t results;
} world;

static world handles_of(world const* shared) {
    world own;
    CHECK(tnt_read(&own.mutex, &shared->mutex, sizeof own.mutex) == 0);
    CHECK(tnt_read(&own.results, &shared->results, sizeof own.results) == 0);
    return own;
}
static void add_one(int* number) {
    int value = 0;
    CHECK(tnt_read(&value, number, sizeof value) == 0);
    if (value % 7 == 0) tnt_yield();
    ++value;
    CHECK(tnt_write(number, &value, sizeof value) == 0);
}
static struct timespec in_microseconds(long us) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void* count(void* argument) {
    world* const shared = argument;
    world const own = handles_of(shared);
    for (int k = 0; k < TIMES; ++k) {
        CHECK(tnt_mutex_lock(&own.mutex) == 0);
        add_one(&shared->count);
        CHECK(tnt_mutex_unlock(&own.mutex) == 0);
    }
    return NULL;
}

/* Some get it in time, and some do not. */
static void* count_in_time(void* argument) {
    world* const shared = argument;
    world const own = handles_of(shared);
    for (int k = 0; k < TIMES; ++k) {
        struct timespec const until = in_microseconds(k % 3 * 20);
        int const result =
            k % 4 == 0 ? tnt_mutex_trylock(&own.mutex) : tnt_mutex_timedlock(&own.mutex, &until);
        if (result == 0) {
            add_one(&shared->count);
            add_one(&shared->in_time);
            CHECK(tnt_mutex_unlock(&own.mutex) == 0);
        } else {
            CHECK(result == (k % 4 == 0 ? EBUSY : ETIMEDOUT));
            CHECK(tnt_mutex_lock(&own.results) == 0);
            add_one(&shared->in_vain);
            CHECK(tnt_mutex_unlock(&own.results) == 0);
        }
    }
    return NULL;
}

static world* make(void) {
    world w = {.count = 0};
    CHECK(tnt_mutex_init(&w.mutex) == 0 && tnt_mutex_init(&w.results) == 0);
    world* const shared = tnt_malloc(sizeof w);
    CHECK(shared != NULL && tnt_write(shared, &w, sizeof w) == 0);
    return shared;
}
static void end(world* shared) {
    world const own = handles_of(shared);
    CHECK(tnt_mutex_destroy(&own.mutex) == 0 && tnt_mutex_destroy(&own.results) == 0);
    CHECK(tnt_mutex_lock(&own.mutex) == EINVAL && tnt_mutex_trylock(&own.mutex) == EINVAL);
    tnt_free(shared);
}

static void one_at_a_time(void) {
    world* const shared = make();
    tnt_t all[THREADS];
    for (int t = 0; t < THREADS; ++t)
        CHECK(tnt_create_at(&all[t], t % tnt_nodes(), t < THREADS / 2 ? &count : &count_in_time,
                            shared) == 0);
    for (int t = 0; t < THREADS; ++t) CHECK(tnt_join(all[t], NULL) == 0);
    world w;
    CHECK(tnt_read(&w, shared, sizeof w) == 0);
    CHECK(w.count == THREADS / 2 * TIMES + w.in_time);
    CHECK(w.in_time + w.in_vain == THREADS / 2 * TIMES);
    end(shared);
}

/* What a thread at another node finds. */
static void* finds_it_free(void* argument) {
    tnt_mutex_t mutex = (tnt_mutex_t)(size_t)argument;
    CHECK(tnt_mutex_trylock(&mutex) == 0 && tnt_mutex_unlock(&mutex) == 0);
    struct timespec const past = {0, 0};
    CHECK(tnt_mutex_timedlock(&mutex, &past) == 0 && tnt_mutex_unlock(&mutex) == 0);
    CHECK(tnt_mutex_lock(&mutex) == 0 && tnt_mutex_unlock(&mutex) == 0);
    CHECK(tnt_mutex_unlock(&mutex) == EPERM);
    return NULL;
}
static void* finds_it_locked(void* argument) {
    tnt_mutex_t mutex = (tnt_mutex_t)(size_t)argument;
    struct timespec const soon = in_microseconds(100);
    CHECK(tnt_mutex_trylock(&mutex) == EBUSY);
    CHECK(tnt_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    CHECK(tnt_mutex_destroy(&mutex) == EBUSY);
    return NULL;
}
static void* unlocks_it(void* argument) {
    tnt_mutex_t mutex = (tnt_mutex_t)(size_t)argument;
    CHECK(tnt_mutex_unlock(&mutex) == 0);
    return NULL;
}
static void at_each_node(void* (*body)(void*), tnt_mutex_t mutex) {
    for (int node = 0; node < tnt_nodes(); ++node) {
        tnt_t one;
        CHECK(tnt_create_at(&one, node, body, (void*)(size_t)mutex) == 0);
        CHECK(tnt_join(one, NULL) == 0);
    }
}

static void of_type(int type) {
    tnt_mutexattr_t attributes;
    tnt_mutex_t mutex;
    CHECK(tnt_mutexattr_init(&attributes) == 0 && tnt_mutexattr_settype(&attributes, type) == 0);
    CHECK(tnt_mutex_init_with(&mutex, &attributes) == 0);
    for (int k = 0; k < 3; ++k) {
        at_each_node(&finds_it_free, mutex);
        CHECK(tnt_mutex_lock(&mutex) == 0);
        at_each_node(&finds_it_locked, mutex);
        CHECK(tnt_mutex_unlock(&mutex) == 0);
    }
    CHECK(tnt_mutex_destroy(&mutex) == 0);
}

/* Any thread may unlock one of the default type, and no other one. */
static void unlocked_elsewhere(void) {
    tnt_mutex_t mutex;
    CHECK(tnt_mutex_init(&mutex) == 0);
    for (int node = tnt_nodes() - 1; node >= 0; --node) {
        tnt_t one;
        CHECK(tnt_mutex_lock(&mutex) == 0);
        CHECK(tnt_create_at(&one, node, &unlocks_it, (void*)(size_t)mutex) == 0);
        CHECK(tnt_join(one, NULL) == 0);
        CHECK(tnt_mutex_unlock(&mutex) == EPERM);
    }
    CHECK(tnt_mutex_destroy(&mutex) == 0);
}

int main(void) {
    one_at_a_time();
    of_type(TNT_MUTEX_NORMAL);
    of_type(TNT_MUTEX_RECURSIVE);
    of_type(TNT_MUTEX_ERRORCHECK);
    unlocked_elsewhere();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of threads at each node, where a node refuses to start some. With an argument, for one
 * node: where there is no memory when a thread ends. */
#include "check.h"

#include <tnt.h>
#include <tulle.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include <sys/resource.h>

enum { EACH = 6, MOST_NODES = 16, TRIES = 60 };

/* Waits for main at the barrier, so that all are alive at once. */
static void* waits(void* shared) {
    tnt_barrier_t barrier;
    CHECK(tnt_read(&barrier, shared, sizeof barrier) == 0);
    tnt_barrier_wait(&barrier);
    return NULL;
}

/* As many threads at each node, if the table says that none is there. */
static void check_table_is_empty(void) {
    tnt_t all[EACH * MOST_NODES];
    int counts[MOST_NODES] = {0};
    unsigned const threads = (unsigned)(EACH * tnt_nodes());
    tnt_barrier_t barrier;
    tnt_barrier_t* const shared = tnt_malloc(sizeof barrier);
    CHECK(tnt_barrier_init(&barrier, threads + 1) == 0);
    CHECK(tnt_write(shared, &barrier, sizeof barrier) == 0);
    for (unsigned k = 0; k < threads; ++k) {
        CHECK(tnt_create(&all[k], &waits, shared) == 0);
        ++counts[tnt_node_of(all[k])];
    }
    for (int n = 0; n < tnt_nodes(); ++n) CHECK(counts[n] == EACH);
    tnt_barrier_wait(&barrier);
    for (unsigned k = 0; k < threads; ++k) CHECK(tnt_join(all[k], NULL) == 0);
    CHECK(tnt_barrier_destroy(&barrier) == 0 && tnt_free(shared) == 0);
}

static void* nothing(void* unused) { return unused; }

/* --- without keys ----------------------------------------------------------------------------- */

/* Each node but this one has no key left for the number of a thread. */
static void fail_to_create(void) {
    tnt_t first;
    tnt_t other;
    tnt_barrier_t barrier;
    tnt_barrier_t* const shared = tnt_malloc(sizeof barrier);
    CHECK(tnt_barrier_init(&barrier, 2) == 0);
    CHECK(tnt_write(shared, &barrier, sizeof barrier) == 0);
    CHECK(tnt_create(&first, &waits, shared) == 0 && tnt_node_of(first) == 0);
    for (int k = 0; tnt_nodes() > 1 && k < TRIES; ++k)
        CHECK(tnt_create(&other, &nothing, NULL) == EAGAIN);
    tnt_barrier_wait(&barrier);
    CHECK(tnt_join(first, NULL) == 0);
    CHECK(tnt_create(&first, &nothing, NULL) == 0 && tnt_node_of(first) == 0);
    CHECK(tnt_join(first, NULL) == 0 && tnt_barrier_destroy(&barrier) == 0);
}

/* --- without memory --------------------------------------------------------------------------- */

static void** taken;
static void* take_all_memory(void* unused) {
    struct rlimit const little = {(rlim_t)1 << 26, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &little);
    for (size_t size = 1 << 20; size >= sizeof(void*); size /= 2) {
        for (void** made = malloc(size); made != NULL; made = malloc(size)) {
            *made = (void*)taken;
            taken = made;
        }
    }
    return unused;
}
static void give_memory_back(void) {
    struct rlimit const all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &all);
    while (taken != NULL) {
        void** const next = (void**)*taken;
        free((void*)taken);
        taken = next;
    }
}

/* A thread ends all the same, and the table is told. */
static void end_without_memory(void) {
    tnt_t thread;
    CHECK(tnt_create(&thread, &take_all_memory, NULL) == 0);
    CHECK(tnt_join(thread, NULL) == 0);
    give_memory_back();
    check_table_is_empty();
}

int main(int count, char** words) {
    tulle_key key = 0;
    tulle_key last = 0;
    (void)words;
    while (count == 1 && tulle_key_create(&key, NULL) == 0) last = key; /* at all nodes */
    CHECK(tnt_init(0) == 0);
    CHECK(tnt_set_placement(TNT_LEAST_LOADED) == 0);
    if (count > 1) {
        end_without_memory();
    } else {
        CHECK(tulle_key_delete(last) == 0); /* at node 0 */
        fail_to_create();
    }
    return 0;
}

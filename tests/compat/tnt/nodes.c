/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, shared memory, mutexes and barriers of all nodes, whatever their number: each placement.
 */
#include "check.h"

#include <tnt.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 24, ROUNDS = 20, ADDS = 50 };
enum {
    RANDOM_THREADS = 256
}; /* the chance that fewer than a third, or none, are where they are expected is below 1e-7 */

/* In shared memory. */
struct world {
    tnt_mutex_t mutex;
    tnt_barrier_t barrier;
    long count;
};

static void* node_and_number(void* number) {
    return (void*)(uintptr_t)((unsigned)tnt_node() * 1000 + (unsigned)(uintptr_t)number);
}

static void* doubles(void* shared) { return (void*)(uintptr_t)(2 * *(long*)shared); }

/* On one machine, also at nodes that have not used shared memory before. */
static void loads_and_stores(void) {
    long* const shared = tnt_malloc(sizeof *shared);
    CHECK(shared != NULL);
    *shared = 21;
    for (int node = 0; node < tnt_nodes(); ++node) {
        tnt_t thread;
        void* result = NULL;
        CHECK(tnt_create_at(&thread, node, &doubles, shared) == 0 &&
              tnt_join(thread, &result) == 0 && result == (void*)42);
    }
    CHECK(tnt_free(shared) == 0);
}

static void* leaves(void* number) {
    if (tnt_node() >= 0) tnt_exit((char*)number + 1);
    return NULL;
}

static void join_all(int policy, int counts[]) {
    tnt_t all[THREADS];
    CHECK(tnt_set_placement(policy) == 0 && tnt_placement() == policy);
    for (uintptr_t k = 0; k < THREADS; ++k)
        CHECK(tnt_create(&all[k], &node_and_number, (void*)k) == 0);
    for (unsigned k = 0; k < THREADS; ++k) {
        void* result = NULL;
        CHECK(tnt_join(all[k], &result) == 0);
        CHECK((uintptr_t)result % 1000 == k &&
              (int)((uintptr_t)result / 1000) == tnt_node_of(all[k]));
        ++counts[tnt_node_of(all[k])];
        CHECK(tnt_join(all[k], &result) == ESRCH);
    }
}

static void placements(void) {
    for (int policy = TNT_ROUND_ROBIN; policy <= TNT_TWO_CHOICES; ++policy) {
        int counts[64] = {0};
        int sum = 0;
        join_all(policy, counts);
        for (int n = 0; n < tnt_nodes(); ++n) sum += counts[n];
        CHECK(sum == THREADS);
        for (int n = 0; policy == TNT_ROUND_ROBIN && n < tnt_nodes(); ++n)
            CHECK(counts[n] == THREADS / tnt_nodes());
    }
    CHECK(tnt_set_placement(4) == EINVAL && tnt_set_placement(-1) == EINVAL);
}

static void random_reaches_all_nodes(void) {
    int counts[64] = {0};
    CHECK(tnt_set_placement(TNT_RANDOM) == 0);
    for (uintptr_t k = 0; k < RANDOM_THREADS; ++k) {
        tnt_t thread;
        void* result = NULL;
        CHECK(tnt_create(&thread, &node_and_number, NULL) == 0 && tnt_join(thread, &result) == 0);
        ++counts[(uintptr_t)result / 1000];
    }
    for (int n = 0; n < tnt_nodes(); ++n)
        CHECK(counts[n] > 0 && (tnt_nodes() == 1 || counts[n] <= RANDOM_THREADS * 2 / 3));
}

/* Waits for main at the barrier, so that all are alive at once. */
static void* waits(void* shared) {
    tnt_barrier_t barrier;
    CHECK(tnt_read(&barrier, shared, sizeof barrier) == 0);
    tnt_barrier_wait(&barrier);
    return NULL;
}

static void least_loaded_is_even(void) {
    tnt_t all[THREADS];
    int counts[64] = {0};
    tnt_barrier_t barrier;
    tnt_barrier_t* shared = tnt_malloc(sizeof barrier);
    CHECK(tnt_barrier_init(&barrier, THREADS + 1) == 0 &&
          tnt_write(shared, &barrier, sizeof barrier) == 0);
    CHECK(tnt_set_placement(TNT_LEAST_LOADED) == 0);
    for (int k = 0; k < THREADS; ++k) {
        CHECK(tnt_create(&all[k], &waits, shared) == 0);
        ++counts[tnt_node_of(all[k])];
    }
    for (int n = 0; n < tnt_nodes(); ++n) CHECK(counts[n] == THREADS / tnt_nodes());
    tnt_barrier_wait(&barrier);
    for (int k = 0; k < THREADS; ++k) CHECK(tnt_join(all[k], NULL) == 0);
    CHECK(tnt_barrier_destroy(&barrier) == 0 && tnt_barrier_destroy(&barrier) == EINVAL);
    CHECK(tnt_free(shared) == 0);
}

static void* works(void* shared) {
    struct world w;
    long serial = 0;
    CHECK(tnt_self() != 0 && tnt_node_of(tnt_self()) == tnt_node());
    CHECK(tnt_read(&w, shared, offsetof(struct world, count)) == 0); /* others change the count */
    for (int k = 0; k < ADDS; ++k) {
        long count = 0;
        char* const at = (char*)shared + offsetof(struct world, count);
        CHECK(tnt_mutex_lock(&w.mutex) == 0);
        CHECK(tnt_read(&count, at, sizeof count) == 0);
        ++count;
        CHECK(tnt_write(at, &count, sizeof count) == 0);
        CHECK(tnt_mutex_unlock(&w.mutex) == 0);
    }
    for (int k = 0; k < ROUNDS; ++k)
        serial += tnt_barrier_wait(&w.barrier) == TNT_BARRIER_SERIAL_THREAD;
    return (void*)serial;
}

static void mutexes_and_barriers(void) {
    tnt_t all[8];
    struct world w;
    long serial = 0;
    void* shared = tnt_calloc(1, sizeof w);
    CHECK(tnt_set_placement(TNT_ROUND_ROBIN) == 0);
    memset(&w, 0, sizeof w);
    CHECK(tnt_mutex_init(&w.mutex) == 0 && tnt_barrier_init(&w.barrier, 8) == 0);
    CHECK(tnt_write(shared, &w, sizeof w) == 0);
    for (int k = 0; k < 8; ++k) CHECK(tnt_create(&all[k], &works, shared) == 0);
    for (int k = 0; k < 8; ++k) {
        void* result = NULL;
        CHECK(tnt_join(all[k], &result) == 0);
        serial += (long)(intptr_t)result;
    }
    CHECK(tnt_read(&w, shared, sizeof w) == 0);
    CHECK(w.count == 8 * ADDS && serial == ROUNDS);
    CHECK(tnt_mutex_lock(&w.mutex) == 0);
    CHECK(tnt_mutex_trylock(&w.mutex) == EBUSY && tnt_mutex_destroy(&w.mutex) == EBUSY);
    CHECK(tnt_mutex_unlock(&w.mutex) == 0 && tnt_mutex_unlock(&w.mutex) == EPERM);
    CHECK(tnt_mutex_trylock(&w.mutex) == 0 && tnt_mutex_unlock(&w.mutex) == 0);
    CHECK(tnt_mutex_destroy(&w.mutex) == 0 && tnt_mutex_lock(&w.mutex) == EINVAL);
    CHECK(tnt_free(shared) == 0 && tnt_free(shared) == EINVAL);
}

static void exits_and_detached_threads(void) {
    void* result = NULL;
    tnt_t thread = 0;
    for (int node = 0; node < tnt_nodes(); ++node) {
        CHECK(tnt_create_at(&thread, node, &leaves, (void*)41) == 0 && tnt_node_of(thread) == node);
        CHECK(tnt_join(thread, &result) == 0 && result == (void*)42);
        CHECK(tnt_create_at(&thread, node, &node_and_number, NULL) == 0);
        CHECK(tnt_detach(thread) == 0);
        int const again = tnt_join(thread, NULL);
        CHECK(again == EINVAL || again == ESRCH); /* it may have ended */
    }
}

static void refusals(void) {
    tnt_t thread = 0;
    int own = 0;
    tnt_mutex_t none = 0;
    CHECK(tnt_create(NULL, &leaves, NULL) == EINVAL && tnt_create(&thread, NULL, NULL) == EINVAL);
    CHECK(tnt_create_at(&thread, tnt_nodes(), &leaves, NULL) == EINVAL &&
          tnt_create_at(&thread, -1, &leaves, NULL) == EINVAL);
    CHECK(tnt_join(0, NULL) == ESRCH && tnt_join(~(tnt_t)0, NULL) == ESRCH &&
          tnt_detach(1U << 30U) == ESRCH);
    CHECK(tnt_self() == 0);
    CHECK(tnt_mutex_lock(NULL) == EINVAL && tnt_mutex_lock(&none) == EINVAL &&
          tnt_barrier_wait(&none) == EINVAL);
    CHECK(tnt_mutex_init(NULL) == EINVAL && tnt_barrier_init(&none, 0) == EINVAL);
    CHECK(tnt_free(&own) == EFAULT && tnt_read(&own, &own, sizeof own) == EFAULT);
    errno = 0;
    CHECK(tnt_malloc((size_t)1 << 40U) == NULL && errno == ENOMEM);
    CHECK(tnt_init(0) == EALREADY);
}

int main(void) {
    CHECK(tnt_init((size_t)16 << 20U) == 0);
    CHECK(tnt_node() == 0 && THREADS % tnt_nodes() == 0);
    loads_and_stores();
    placements();
    random_reaches_all_nodes();
    least_loaded_is_even();
    mutexes_and_barriers();
    exits_and_detached_threads();
    refusals();
    return 0;
}

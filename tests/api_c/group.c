/* SPDX-License-Identifier: Apache-2.0
 * Groups of threads from C, each policy; results in full/empty words. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <tulle.h>

static tulle_mutex_t g_lock;
static int g_sum;

static void add(void* part) {
    tulle_mutex_lock(&g_lock);
    g_sum += *(int*)part;
    tulle_mutex_unlock(&g_lock);
}

static int sum_is_right(int policy) {
    static int parts[200];
    tulle_group* group = NULL;
    int wanted = 0;
    if (tulle_group_create(&group, 2, policy) != 0) return 0;
    g_sum = 0;
    for (int k = 0; k < 200; ++k) {
        parts[k] = k;
        wanted += k;
        if (tulle_group_spawn(group, &add, &parts[k]) == -EAGAIN) add(&parts[k]);
    }
    if (tulle_group_join(group) != 0 || g_sum != wanted || tulle_group_size(group) != 0) return 0;
    return tulle_group_destroy(group) == 0;
}

static tulle_group* g_futures;

/* Fibonacci numbers by futures: each waits for two, while at most two of them are alive on each
 * shepherd. */
static uint64_t fib(void* argument) {
    uint64_t const n = *(uint64_t*)argument;
    uint64_t left = 0, right = 0, of_left = n - 1, of_right = n - 2;
    if (n < 2) return n;
    if (tulle_group_spawn_into(g_futures, -1, &fib, &of_left, &left) != 0) return 0;
    if (tulle_group_spawn_into(g_futures, -1, &fib, &of_right, &right) != 0) return 0;
    tulle_feb_read_ff(&left, &left, sizeof left);
    tulle_feb_read_ff(&right, &right, sizeof right);
    return left + right;
}

static int futures_are_right(void) {
    uint64_t n = 12, result = 0;
    if (tulle_group_create_per_shepherd(&g_futures, 2, TULLE_BLOCK) != 0) return 0;
    if (tulle_group_timed_spawn_into(g_futures, 0, &fib, &n, &result, TULLE_FOREVER) != 0) return 0;
    if (tulle_feb_read_ff(&result, &result, sizeof result) != 0 || result != 144) return 0;
    return tulle_group_join(g_futures) == 0 && tulle_group_size(g_futures) == 0 &&
           tulle_group_destroy(g_futures) == 0;
}

/* Nodes of a binary tree of four levels, by walks that hold what they have reserved. */
struct node {
    tulle_group* group;
    int depth;
    tulle_latch_t* above;
};
static int g_nodes;

static void visit(void* argument) {
    struct node const* const n = argument;
    tulle_latch_t ended = TULLE_LATCH_INIT(2);
    struct node child = {n->group, n->depth + 1, &ended};
    tulle_mutex_lock(&g_lock);
    ++g_nodes;
    tulle_mutex_unlock(&g_lock);
    if (n->depth < 3) {
        if (tulle_group_spawn(n->group, &visit, &child) != 0) g_nodes = 1000;
        if (tulle_group_spawn(n->group, &visit, &child) != 0) g_nodes = 1000;
        tulle_latch_wait(&ended);
    } else if (tulle_group_spawn(n->group, &visit, &child) != -EOVERFLOW) {
        g_nodes = 1000;
    }
    if (n->above != NULL) tulle_latch_count_down(n->above, 1);
}

static int walks_are_right(void) {
    struct node root = {NULL, 0, NULL};
    if (tulle_group_create_walks(&root.group, 2, 4, 1024, TULLE_BLOCK) != 0) return 0;
    for (int k = 0; k < 5; ++k) {
        if (tulle_group_spawn(root.group, &visit, &root) != 0) return 0;
        if (tulle_group_held(root.group) > (size_t)2 * 4 * 1024) return 0;
    }
    if (tulle_group_join(root.group) != 0 || g_nodes != 5 * 15) return 0;
    return tulle_group_held(root.group) == 0 && tulle_group_destroy(root.group) == 0;
}

static int bytes_are_right(void) {
    tulle_group* group = NULL;
    static int parts[100];
    if (tulle_group_create_bytes(&group, 100, TULLE_BLOCK) != 0) return 0;
    g_sum = 0;
    for (int k = 0; k < 100; ++k) {
        parts[k] = k;
        if (tulle_group_spawn_holding(group, (size_t)k + 1, &add, &parts[k]) != 0) return 0;
        if (tulle_group_held(group) > 100) return 0;
    }
    if (tulle_group_spawn_holding(group, 101, &add, &parts[0]) != -EINVAL) return 0;
    return tulle_group_join(group) == 0 && g_sum == 4950 && tulle_group_destroy(group) == 0;
}

static uint64_t wait_for(void* latch) {
    tulle_latch_wait(latch);
    return 5;
}

static int errors_are_right(void) {
    tulle_group* group = NULL;
    tulle_latch_t open = TULLE_LATCH_INIT(1);
    uint64_t word = 3, other = 4;
    if (tulle_group_create_per_shepherd(&group, 0, TULLE_BLOCK) != -EINVAL ||
        tulle_group_create_per_shepherd(&group, 1, 9) != -EINVAL)
        return 0;
    if (tulle_group_create(&group, 1, TULLE_BLOCK) != 0) return 0;
    if (tulle_group_spawn_into(group, 99, &wait_for, &open, &word) != -EINVAL) return 0;
    if (tulle_group_spawn_into(group, -1, &wait_for, &open, NULL) != -EINVAL) return 0;
    if (tulle_group_timed_spawn_into(NULL, -1, &wait_for, &open, &word, 0) != -EINVAL ||
        tulle_feb_is_full(&word) != 1)
        return 0;
    if (tulle_group_spawn_into(group, -1, &wait_for, &open, &word) != 0 ||
        tulle_feb_is_full(&word) != 0)
        return 0;
    if (tulle_group_timed_spawn_into(group, -1, &wait_for, &open, &other, 0) != -EBUSY) return 0;
    if (tulle_group_timed_spawn_into(group, -1, &wait_for, &open, &other, 1000) != -ETIMEDOUT)
        return 0;
    if (tulle_feb_is_full(&other) != 1 || other != 4 || tulle_latch_count_down(&open, 1) != 0)
        return 0;
    return tulle_feb_read_ff(&word, &word, sizeof word) == 0 && word == 5 &&
           tulle_group_destroy(group) == 0;
}

int main(void) {
    int const policies[] = {TULLE_RUN_INLINE, TULLE_CREATE, TULLE_RECORD, TULLE_BLOCK};
    for (size_t k = 0; k < sizeof policies / sizeof policies[0]; ++k) {
        if (!sum_is_right(policies[k])) {
            printf("policy %d: wrong\n", policies[k]);
            return 1;
        }
    }
    if (!walks_are_right() || !bytes_are_right()) {
        printf("bytes: wrong\n");
        return 1;
    }
    if (!futures_are_right() || !errors_are_right()) {
        printf("futures: wrong\n");
        return 1;
    }
    return 0;
}

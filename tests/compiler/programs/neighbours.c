// SPDX-License-Identifier: Apache-2.0
// Accesses that are a constant apart, in one block and in several: one check for those that lie in
// a few lines, none of which is left out, made anew where a value of their address is another one,
// or after synchronisation.
#include "recorder.h"

typedef double vector[3];

struct node {
    struct node* next;
    long keys[4];
    double weight;
    char rest[200];
    long last;
};

// checks: 1 (the compiler's test counts them)
__attribute__((noinline)) static double length_of(vector const* all, long k) {
    return all[k][0] * all[k][0] + all[k][1] * all[k][1] + all[k][2] * all[k][2];
}

// checks: 1
__attribute__((noinline)) static double at_a_distance(double const* all, long k, long width) {
    return all[k * width + 2] + all[k * width + 3] + all[width * k + 4];
}

// checks: 1
__attribute__((noinline)) static double on_some_ways(struct node const* n, long key) {
    if (n->keys[0] == key) return n->weight;
    if (n->keys[2] == key) return n->weight + 1;
    return n->keys[3] == key ? 2 : 0;
}

static long s_places[] = {5, 1 << 17, 2};
static long volatile s_count = 3; // which the compiler does not know

// checks: 1, and none ahead of the loop: of so large a table it may touch a small part
__attribute__((noinline)) static long of_large_table(long const* table, long count) {
    long sum = 0;
    for (long k = 0; k < count; ++k) sum += table[s_places[k] & ((1 << 17) - 1)];
    return sum;
}

// checks: 1, as what may be stored may be loaded
__attribute__((noinline)) static void add_to_all(long* all, long count) {
    for (long k = 0; k < count; ++k) all[k] += 1;
}

// checks: 2, as the last one is far away
__attribute__((noinline)) static long far_apart(struct node const* n) {
    return n->keys[0] == 1 ? n->last : 0;
}

// checks: 2, one for each
__attribute__((noinline)) static double after_others(struct node const* n) {
    double const before = n->keys[1] == 4 ? n->weight : 0;
    synchronise();
    return before + n->weight;
}

// checks: 1 in each turn, of another node
__attribute__((noinline)) static double sum_of(struct node const* n) {
    double sum = 0;
    for (; n != NULL; n = n->next)
        if (n->keys[1] != 0) sum += n->weight * (double)n->keys[1];
    return sum;
}

// checks: 1 in each turn, of another vector
__attribute__((noinline)) static double sum_at(vector const* all, int count) {
    double sum = 0;
    unsigned at = 1;
    for (int k = 0; k < count; ++k) {
        sum += all[at][0];
        if (all[at][1] > 0) sum += all[at][2];
        at = (at * 5 + 3) % 16;
    }
    return sum;
}

// checks: 2, of loads and then of stores
__attribute__((noinline)) static void change(struct node* n) {
    if (n->keys[3] == 0) {
        n->keys[0] = 9;
        if (n->weight > 0) n->keys[2] = 8;
    }
}

// checks: 2, of the store, which is that of the load before it as well, and of the load behind it
__attribute__((noinline)) static double count_up(vector* way, int more) {
    (*way)[0] += 1;
    return more != 0 ? (*way)[2] : 0;
}

// checks: 2, as what others have stored may come between
__attribute__((noinline)) static long around_an_acquire(long const* number) {
    long const before = *number;
    tulle_coherent_acquire();
    return before - *number;
}

// Elements that have been stored to one by one, and then by an index that has bounds.
enum { k_elements = 14 };
#define STORE_EACH(a)                                                                              \
    a[0] = 5, a[1] = 1, a[2] = 6, a[3] = 2, a[4] = 7, a[5] = 3, a[6] = 8, a[7] = 4, a[8] = 9,      \
    a[9] = 5, a[10] = 1, a[11] = 6, a[12] = 2, a[13] = 7

// checks: 1, of what is stored first
__attribute__((noinline)) static void bound(double* a, double most) {
    STORE_EACH(a);
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k)
        if (k * most > 6) a[k] = most;
}

// checks: 2, as one more element is stored to
__attribute__((noinline)) static void bound_one_more(double* a, double most) {
    STORE_EACH(a);
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < 2 * k_elements; ++k)
        if (k * most < 0) a[k] = most;
}

// checks: 2
__attribute__((noinline)) static void bound_later(double* a, double most) {
    STORE_EACH(a);
    synchronise();
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k)
        if (k * most > 6) a[k] = most;
}

// checks: 2, as what has been loaded may not be stored to
__attribute__((noinline)) static double bound_loaded(double* a, double most) {
    double const sum = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8] + a[9] + a[10] +
                       a[11] + a[12] + a[13];
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k)
        if (k * most > 6) a[k] = most;
    return sum;
}

// checks: 1, as the loop loads what is stored first, and stores some of that
__attribute__((noinline)) static void cut(double* a, double most) {
    STORE_EACH(a);
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k)
        if (a[k] > most) a[k] -= most;
}

// checks: 2, as the loop stores further, in some turns
__attribute__((noinline)) static void cut_off(double* a, double most) {
    STORE_EACH(a);
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k)
        if (a[k] > most) a[k + k_elements] = most;
}

// checks: 2, of what is stored first, and of the loop, which goes further
__attribute__((noinline)) static void cut_twice_as_many(double* a, double most) {
    STORE_EACH(a);
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < 2 * k_elements; ++k) a[k] -= most;
}

// checks: 2
__attribute__((noinline)) static void cut_later(double* a, double most) {
    STORE_EACH(a);
    synchronise();
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_elements; ++k) a[k] -= most;
}

// checks: 3, as a line is left out between what is stored first
__attribute__((noinline)) static double sum_with_gap(double* a) {
    a[0] = 1, a[20] = 2;
    double sum = 0;
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k <= 20; ++k) sum += a[k];
    return sum;
}

static void test_arrays(double* a) {
    synchronise();
    cut(a, 5);
    synchronise();
    REQUIRE(a[0] == 5 && a[2] == 1 && a[8] == 4 && a[13] == 2);
    synchronise();
    cut_off(a, 8);
    synchronise();
    REQUIRE(a[8] == 9 && a[8 + k_elements] == 8);
    synchronise();
    cut_twice_as_many(a, 1);
    synchronise();
    REQUIRE(a[0] == 4 && a[13] == 6);
    double const beyond = a[14];
    synchronise();
    cut_twice_as_many(a, 1);
    synchronise();
    REQUIRE(a[14] == beyond - 1);
    synchronise();
    cut_later(a, 2);
    synchronise();
    REQUIRE(a[0] == 3 && a[13] == 5 && a[14] == beyond - 1);
    for (int k = 0; k < 20; ++k) a[k] = 1;
    synchronise();
    REQUIRE(sum_with_gap(a) == 22);
}

static void test_bounds(double* a) {
    synchronise();
    bound(a, 4);
    synchronise();
    REQUIRE(a[0] == 5 && a[1] == 1 && a[2] == 4 && a[10] == 4 && a[13] == 4);
    synchronise();
    bound_one_more(a, -1);
    synchronise();
    REQUIRE(a[0] == 5 && a[1] == -1 && a[13] == -1 && a[27] == -1);
    synchronise();
    bound_later(a, 2);
    synchronise();
    REQUIRE(a[3] == 2 && a[4] == 2 && a[13] == 2 && a[0] == 5);
    synchronise();
    REQUIRE(bound_loaded(a, 3) == 5 + 1 + 6 + 2 + 10 * 2);
    synchronise();
    REQUIRE(a[2] == 6 && a[3] == 3 && a[13] == 3);
}

int main(void) {
    struct node* const nodes = coherent_memory(3 * sizeof *nodes);
    for (int k = 0; k < 3; ++k) {
        nodes[k].next = k == 2 ? NULL : nodes + k + 1;
        nodes[k].keys[0] = k == 1;
        nodes[k].keys[1] = k + 1;
        nodes[k].keys[2] = 7;
        nodes[k].weight = 10;
        nodes[k].last = 3;
    }
    vector* const all = coherent_memory(16 * sizeof *all);
    for (int k = 0; k < 16; ++k)
        for (int way = 0; way < 3; ++way) all[k][way] = k + way;
    for (int k = 0; k < 16; ++k) {
        synchronise();
        REQUIRE(length_of(all, k) == k * k + (k + 1) * (k + 1) + (k + 2) * (k + 2));
    }
    synchronise();
    REQUIRE(at_a_distance(all[0], 3, 3) == 5 + 4 + 5);
    for (int key = 0; key < 10; ++key) {
        synchronise();
        REQUIRE(on_some_ways(nodes, key) == (key == 0 ? 10 : key == 7 ? 11 : 0));
    }
    synchronise();
    REQUIRE(far_apart(nodes + 1) == 3);
    synchronise();
    REQUIRE(after_others(nodes) == 10);
    s_places[2] = 1;
    long* const table = coherent_memory(16 * sizeof *table);
    table[5] = 1;
    synchronise();
    REQUIRE(of_large_table(table, s_count) == 1);
    synchronise();
    add_to_all(table, 16);
    REQUIRE(table[5] == 2 && table[15] == 1);
    synchronise();
    REQUIRE(sum_of(nodes) == 60);
    synchronise();
    REQUIRE(sum_at(all, 16) == 120 + 120 + 2 * 16); // each vector once
    synchronise();
    change(nodes);
    REQUIRE(nodes->keys[0] == 9 && nodes->keys[2] == 8);
    synchronise();
    REQUIRE(around_an_acquire(nodes->keys) == 0);
    for (int more = 0; more < 2; ++more) {
        synchronise();
        REQUIRE(count_up(all + 2, more) == 4 * more); // it lies in two lines
    }
    test_bounds(coherent_memory(2 * k_elements * sizeof(double)));
    test_arrays(coherent_memory(2 * k_elements * sizeof(double)));
    return 0;
}

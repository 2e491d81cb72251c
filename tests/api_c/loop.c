/* SPDX-License-Identifier: Apache-2.0
 * Loops, reductions and sorts from C; each function, and each of its errors. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tulle.h>

#define COUNT 5000

static _Atomic int g_runs[COUNT];

static int check(int right, char const* what) {
    if (!right) printf("%s: wrong\n", what);
    return right ? 0 : 1;
}

static void clear_runs(void) {
    for (int i = 0; i < COUNT; ++i) atomic_store(&g_runs[i], 0);
}
static int all_ran(int times) {
    for (int i = 0; i < COUNT; ++i)
        if (atomic_load(&g_runs[i]) != times) return 0;
    return 1;
}

static void count_one(int64_t i, void* unused) {
    (void)unused;
    atomic_fetch_add(&g_runs[i], 1);
}
static void count_chunk(int64_t begin, int64_t end, void* unused) {
    for (int64_t i = begin; i < end; ++i) count_one(i, unused);
}
static void count_part(size_t part, int64_t begin, int64_t end, void* most) {
    if (part >= *(size_t*)most || begin >= end) abort();
    count_chunk(begin, end, NULL);
}

// Of loops that are refused.
static void never_called(int64_t begin, int64_t end, void* unused) {
    (void)begin, (void)end, (void)unused;
    abort();
}
static void no_part(size_t part, int64_t begin, int64_t end, void* unused) {
    (void)part;
    never_called(begin, end, unused);
}
static void no_value(int64_t begin, int64_t end, void* unused, void* value) {
    (void)value;
    never_called(begin, end, unused);
}
static void no_addition(void* result, void const* value) {
    (void)result, (void)value;
    abort();
}

static int loops(void) {
    int const schedules[] = {TULLE_AUTOMATIC, TULLE_EVEN, TULLE_DYNAMIC, TULLE_GUIDED,
                             TULLE_ONE_THREAD_EACH};
    int failures = 0;
    for (size_t k = 0; k < sizeof schedules / sizeof schedules[0]; ++k) {
        tulle_loop_options options = TULLE_LOOP_INIT;
        options.schedule = schedules[k];
        options.chunk = k;
        clear_runs();
        failures += check(
            tulle_loop_for(0, COUNT, 1, &count_one, NULL, &options) == 0 && all_ran(1), "for");
        failures +=
            check(tulle_loop_for(COUNT - 1, -1, -1, &count_one, NULL, &options) == 0 && all_ran(2),
                  "for, downwards");
        failures += check(
            tulle_loop_chunks(0, COUNT, &count_chunk, NULL, &options) == 0 && all_ran(3), "chunks");
    }
    clear_runs();
    size_t most = (size_t)tulle_worker_count();
    failures +=
        check(tulle_loop_parts(0, COUNT, &count_part, &most, NULL) == 0 && all_ran(1), "parts");
    failures +=
        check(tulle_loop_for(5, -5, 1, &count_one, NULL, NULL) == 0 && all_ran(1), "an empty loop");
    return failures;
}

static int stopped_loops(void) {
    int failures = 0;
    int const stop = 1;
    int const go_on = 0;
    tulle_loop_options options = TULLE_LOOP_INIT;
    size_t most = SIZE_MAX;
    clear_runs();
    options.stop = &stop;
    failures += check(tulle_loop_for(0, COUNT, 1, &count_one, NULL, &options) == -ECANCELED,
                      "for, stopped");
    failures += check(tulle_loop_chunks(0, COUNT, &count_chunk, NULL, &options) == -ECANCELED,
                      "chunks, stopped");
    failures +=
        check(tulle_loop_parts(0, COUNT, &count_part, &most, &stop) == -ECANCELED && all_ran(0),
              "parts, stopped");
    options.stop = &go_on;
    failures += check(tulle_loop_for(0, COUNT, 1, &count_one, NULL, &options) == 0 && all_ran(1),
                      "for, not stopped");
    return failures;
}

static void sum_part(int64_t begin, int64_t end, void* unused, void* value) {
    int64_t sum = 0;
    (void)unused;
    for (int64_t i = begin; i < end; ++i) sum += i;
    *(int64_t*)value = sum;
}
static void add(void* result, void const* value) { *(int64_t*)result += *(int64_t const*)value; }

static int reductions(void) {
    int failures = 0;
    int64_t sum = 7;
    double const numbers[] = {3.0, -2.0, 4.0, 0.5};
    double value = 0;
    failures +=
        check(tulle_loop_accumulate(0, COUNT, sizeof sum, &sum, &sum_part, NULL, &add) == 0 &&
                  sum == 7 + (int64_t)COUNT * (COUNT - 1) / 2,
              "accumulate");
    failures += check(tulle_loop_sum(numbers, 4, &value) == 0 && value == 5.5, "sum");
    failures += check(tulle_loop_product(numbers, 4, &value) == 0 && value == -12.0, "product");
    failures += check(tulle_loop_min(numbers, 4, &value) == 0 && value == -2.0, "min");
    failures += check(tulle_loop_max(numbers, 4, &value) == 0 && value == 4.0, "max");
    failures += check(tulle_loop_sum(NULL, 0, &value) == 0 && value == 0.0, "sum of none");
    failures += check(tulle_loop_product(NULL, 0, &value) == 0 && value == 1.0, "product of none");
    return failures;
}

struct item {
    int key;
    int place;
    char rest[20];
};
static int compare_items(void const* a, void const* b) {
    return ((struct item const*)a)->key - ((struct item const*)b)->key;
}

static int sorts(void) {
    static double doubles[COUNT];
    static struct item items[COUNT];
    int failures = 0;
    int right = 1;
    for (int i = 0; i < COUNT; ++i) {
        doubles[i] = i * 7919 % 5003;
        items[i].key = i * 7919 % 97;
        items[i].place = i;
        items[i].rest[19] = (char)(items[i].key);
    }
    failures += check(tulle_loop_sort_doubles(doubles, COUNT) == 0, "sort of doubles");
    failures += check(tulle_loop_sort(items, COUNT, sizeof items[0], &compare_items) == 0, "sort");
    for (int i = 1; i < COUNT; ++i) {
        struct item const *a = &items[i - 1], *b = &items[i];
        right = right && doubles[i - 1] <= doubles[i] && b->rest[19] == (char)b->key;
        right = right && (a->key < b->key || (a->key == b->key && a->place < b->place));
    }
    failures += check(right, "order");
    failures += check(tulle_loop_sort_doubles(NULL, 0) == 0 &&
                          tulle_loop_sort(NULL, 0, 1, &compare_items) == 0,
                      "sort of none");
    return failures;
}

static int errors(void) {
    int failures = 0;
    double value = 0;
    int64_t sum = 0;
    tulle_loop_options options = TULLE_LOOP_INIT;
    failures += check(tulle_loop_for(0, 1, 0, &count_one, NULL, NULL) == -EINVAL, "a step of 0");
    failures +=
        check(tulle_loop_for(0, 1, 1, NULL, NULL, NULL) == -EINVAL, "for without a function");
    failures += check(tulle_loop_for(INT64_MIN, INT64_MAX, 1, &count_one, NULL, NULL) == -EOVERFLOW,
                      "too many iterations");
    failures +=
        check(tulle_loop_chunks(INT64_MIN, INT64_MAX, &never_called, NULL, NULL) == -EOVERFLOW,
              "chunks of too many iterations");
    failures += check(tulle_loop_parts(INT64_MIN, INT64_MAX, &no_part, NULL, NULL) == -EOVERFLOW,
                      "parts of too many iterations");
    failures += check(tulle_loop_accumulate(INT64_MIN, INT64_MAX, sizeof sum, &sum, &no_value, NULL,
                                            &no_addition) == -EOVERFLOW,
                      "values of too many iterations");
    failures +=
        check(tulle_loop_chunks(0, 1, NULL, NULL, NULL) == -EINVAL, "chunks without a function");
    failures +=
        check(tulle_loop_parts(0, 1, NULL, NULL, NULL) == -EINVAL, "parts without a function");
    options.schedule = 77;
    failures +=
        check(tulle_loop_for(0, 1, 1, &count_one, NULL, &options) == -EINVAL, "no schedule");
    failures += check(tulle_loop_accumulate(0, 1, 0, &sum, &sum_part, NULL, &add) == -EINVAL,
                      "values of no size");
    failures += check(
        tulle_loop_accumulate(0, 1, SIZE_MAX, &sum, &sum_part, NULL, &add) == -ENOMEM &&
            tulle_loop_accumulate(0, COUNT, SIZE_MAX / 2, &sum, &sum_part, NULL, &add) == -ENOMEM,
        "values of more than there is memory");
    failures +=
        check(tulle_loop_accumulate(0, 1, 8, NULL, &sum_part, NULL, &add) == -EINVAL, "no result");
    failures +=
        check(tulle_loop_accumulate(0, 1, 8, &sum, NULL, NULL, &add) == -EINVAL, "no function");
    failures += check(tulle_loop_accumulate(0, 1, 8, &sum, &sum_part, NULL, NULL) == -EINVAL,
                      "no accumulation");
    failures += check(tulle_loop_sum(NULL, 1, &value) == -EINVAL &&
                          tulle_loop_sum(&value, 1, NULL) == -EINVAL,
                      "sum of nothing");
    failures += check(tulle_loop_product(NULL, 1, &value) == -EINVAL, "product of nothing");
    failures += check(tulle_loop_min(&value, 0, &value) == -EINVAL &&
                          tulle_loop_max(&value, 0, &value) == -EINVAL,
                      "the smallest of none");
    failures += check(tulle_loop_sort_doubles(NULL, 1) == -EINVAL, "sort of nothing");
    failures +=
        check(tulle_loop_sort(NULL, 1, 1, &compare_items) == -EINVAL, "sort without an array");
    failures +=
        check(tulle_loop_sort(&value, 1, 0, &compare_items) == -EINVAL, "elements of no size");
    failures += check(tulle_loop_sort(&value, 1, 1, NULL) == -EINVAL, "sort without a comparison");
    return failures;
}

int main(void) {
    return loops() + stopped_loops() + reductions() + sorts() + errors() == 0 ? 0 : 1;
}

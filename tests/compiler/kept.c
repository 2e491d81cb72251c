/* SPDX-License-Identifier: Apache-2.0 */
/* Two places. Threads hold numbers in registers, as loops over several sums do, while what they
 * load and store has to come from the other place: all registers are then as they were. Several
 * workers get into each other's way, so that some wait for the lock of the copy. Argument: the
 * threads of each place. */
#include "check.h"

#include <immintrin.h>
#include <string.h>
#include <tulle.h>

/* Of a thread a mebibyte: who keeps the homes changes with each. */
enum { MOST = 4, UNIT = 4096, UNITS = 64, KINDS = 4 };

struct unit {
    long value, added;
    char rest[UNIT - 2 * sizeof(long)];
};
struct shared {
    struct unit units[MOST][KINDS][UNITS];
};

static struct shared* global;
static int T = 1;

/* In registers, all at the same time, ahead of the access and behind it. */
#define HELD(n)                                                                                    \
    __asm__ volatile(""                                                                            \
                     : "+x"(n[0]), "+x"(n[1]), "+x"(n[2]), "+x"(n[3]), "+x"(n[4]), "+x"(n[5]),     \
                       "+x"(n[6]), "+x"(n[7]), "+x"(n[8]), "+x"(n[9]), "+x"(n[10]), "+x"(n[11]))
enum { NUMBERS = 12 };

/* A check of its own for each access. */
__attribute__((noinline)) static double load_beside_doubles(struct unit const* u, double first) {
    double n[NUMBERS], sum = 0;
    for (int k = 0; k < NUMBERS; ++k) n[k] = first + k;
    HELD(n);
    long const value = u->value;
    HELD(n);
    for (int k = 0; k < NUMBERS; ++k) sum += n[k];
    return sum + (double)value;
}
__attribute__((noinline)) static double store_beside_doubles(struct unit* u, double first,
                                                             long value) {
    double n[NUMBERS], sum = 0;
    for (int k = 0; k < NUMBERS; ++k) n[k] = first + k;
    HELD(n);
    u->added = value;
    HELD(n);
    for (int k = 0; k < NUMBERS; ++k) sum += n[k];
    return sum;
}

__attribute__((target("avx"))) static double sum_of(__m256d const* n) {
    double all[4], sum = 0;
    for (int k = 0; k < NUMBERS; ++k) {
        _mm256_storeu_pd(all, n[k]);
        sum += all[0] + 10 * all[1] + 100 * all[2] + 1000 * all[3];
    }
    return sum;
}
#define FILL(n, first)                                                                             \
    for (int k = 0; k < NUMBERS; ++k)                                                              \
    n[k] = _mm256_set_pd((first) + k + 3, (first) + k + 2, (first) + k + 1, (first) + k)
__attribute__((noinline, target("avx"))) static double load_beside_vectors(struct unit const* u,
                                                                           double first) {
    __m256d n[NUMBERS];
    FILL(n, first);
    HELD(n);
    long const value = u->value;
    HELD(n);
    return sum_of(n) + (double)value;
}
__attribute__((noinline, target("avx"))) static double
store_beside_vectors(struct unit* u, double first, long value) {
    __m256d n[NUMBERS];
    FILL(n, first);
    HELD(n);
    u->added = value;
    HELD(n);
    return sum_of(n);
}
static int has_wide_vectors(void) { return __builtin_cpu_supports("avx"); }

/* What the sums are: of doubles `first + k`, or of vectors of four of them. */
static double sum_of_doubles(double first) {
    double sum = 0;
    for (int k = 0; k < NUMBERS; ++k) sum += first + k;
    return sum;
}
static double sum_of_vectors(double first) {
    double sum = 0;
    for (int k = 0; k < NUMBERS; ++k) sum += 1111 * (first + k) + 10 + 200 + 3000;
    return sum;
}

static void* use_all(void* argument) {
    struct unit(*const own)[UNITS] = argument;
    for (int k = 0; k < UNITS; ++k) {
        double const first = 1000.0 * k + 1;
        CHECK(load_beside_doubles(&own[0][k], first) == sum_of_doubles(first) + k);
        CHECK(store_beside_doubles(&own[1][k], first, k) == sum_of_doubles(first));
        if (!has_wide_vectors()) continue;
        CHECK(load_beside_vectors(&own[2][k], first) == sum_of_vectors(first) + k);
        CHECK(store_beside_vectors(&own[3][k], first, k) == sum_of_vectors(first));
    }
    return NULL;
}

/* What a store finds: a home at the other place, or none. */
static int has_home(int kind, int k) { return kind % 2 == 0 || k % 2 == 0; }
static void store_all(void const* memory, size_t size) {
    (void)size;
    global = *(struct shared* const*)memory;
    tulle_coherent_acquire();
    for (int t = 0; t < MOST; ++t)
        for (int kind = 0; kind < KINDS; ++kind)
            for (int k = 0; k < UNITS; ++k)
                if (has_home(kind, k)) global->units[t][kind][k].value = k;
    tulle_coherent_release();
}
static void expect_all(void const* count, size_t size) {
    (void)size;
    int const threads = *(int const*)count;
    tulle_coherent_acquire();
    for (int t = 0; t < threads; ++t)
        for (int kind = 1; kind < (has_wide_vectors() ? KINDS : 2); kind += 2)
            for (int k = 0; k < UNITS; ++k) {
                CHECK(global->units[t][kind][k].added == k);
                CHECK(global->units[t][kind][k].value == (has_home(kind, k) ? k : 0));
            }
}
static void begin_at_other(tulle_activities_t* all, void* memory) {
    CHECK(tulle_async_at(all, 1, store_all, memory, sizeof(void*)) == 0);
}
static void end_at_other(tulle_activities_t* all, void* count) {
    CHECK(tulle_async_at(all, 1, expect_all, count, sizeof(int)) == 0);
}

int main(int argc, char** argv) {
    void* memory = NULL;
    tulle_thread* threads[MOST];
    T = argc > 1 ? atoi(argv[1]) : T;
    CHECK(T >= 1 && T <= MOST && tulle_place_count() == 2);
    CHECK(tulle_coherent_begin() == 0);
    CHECK(tulle_coherent_malloc(&memory, sizeof(struct shared)) == 0);
    memset(memory, 0, sizeof(struct shared));
    tulle_coherent_share();
    tulle_coherent_release();
    CHECK(tulle_finish(begin_at_other, &memory) == 0);
    tulle_coherent_acquire();
    global = memory;
    for (int t = 0; t < T; ++t)
        CHECK(tulle_spawn(&threads[t], NULL, use_all, global->units[t]) == 0);
    for (int t = 0; t < T; ++t) CHECK(tulle_thread_join(threads[t], NULL) == 0);
    tulle_coherent_release();
    CHECK(tulle_finish(end_at_other, &T) == 0);
    return 0;
}

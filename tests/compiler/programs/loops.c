// SPDX-License-Identifier: Apache-2.0
// Loops of one level: forwards, backwards, by steps that are known, not known, or of either sign,
// with and without gaps, and with an address that does not change.
#include "recorder.h"

enum { k_count = 300 };

#define NOINLINE __attribute__((noinline))

NOINLINE static long sum(long const* a, int count) {
    long s = 0;
    for (int i = 0; i < count; ++i) s += a[i];
    return s;
}
NOINLINE static void fill(long* a, int count) {
    for (int i = 0; i < count; ++i) a[i] = i;
}
NOINLINE static void fill_backwards(long* a, int count) {
    for (int i = count - 1; i >= 0; --i) a[i] = i + 1;
}
NOINLINE static long sum_by_steps(long const* a, long count, long step) {
    long s = 0;
    for (long i = 0; i < count; ++i) s += a[i * step];
    return s;
}
NOINLINE static void fill_by_steps(long* a, long count, long step) {
    for (long i = 0; i < count; ++i) a[i * step] = 9;
}
NOINLINE static void fill_with_gaps(long* a, int count) {
    for (int i = 0; i < count; ++i) a[i * 32] = 3;
}
NOINLINE static void accumulate(long* total, int const* private_numbers, int count) {
    for (int i = 0; i < count; ++i) *total += private_numbers[i];
}
NOINLINE static long until_zero(long const* a) {
    long n = 0;
    while (a[n] != 0) ++n;
    return n;
}

int main(void) {
    long* a = coherent_memory(k_count * sizeof *a);
    long* total = coherent_memory(sizeof *total);
    static int numbers[4] = {1, 2, 3, 4};
    fill(a, k_count);
    synchronise();
    REQUIRE(sum(a, k_count) == (long)k_count * (k_count - 1) / 2);
    synchronise();
    fill_backwards(a, k_count);
    synchronise();
    REQUIRE(sum_by_steps(a, k_count / 3, 3) == 3L * (k_count / 3) * (k_count / 3 - 1) / 2 + 100);
    synchronise();
    REQUIRE(sum_by_steps(a + k_count - 1, k_count / 20, -20) > 0);
    synchronise();
    fill_by_steps(a + k_count - 1, k_count / 20, -20);
    synchronise();
    fill_by_steps(a, k_count / 7, 7);
    synchronise();
    fill_with_gaps(a, k_count / 32);
    synchronise();
    REQUIRE(a[32] == 3 && a[64] == 3);
    accumulate(total, numbers, 4);
    REQUIRE(*total == 10);
    synchronise();
    fill(a, 100);
    a[100] = 0;
    synchronise();
    REQUIRE(until_zero(a + 1) == 99);
    REQUIRE(sum(a, 0) == 0);
    return 0;
}

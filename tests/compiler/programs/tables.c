// SPDX-License-Identifier: Apache-2.0
// Tables whose elements a loop touches in an order that nobody foresees, by an index that has
// bounds: with at least as many turns as there are elements the table is checked ahead of the loop,
// with fewer each element where it is touched.
#include "recorder.h"

enum { k_digits = 64, k_count = 300, k_few = 20 };

#define NOINLINE __attribute__((noinline))

#if defined __OPTIMIZE__ && !defined BY_DIRECTORY
enum { k_is_ahead = 1 };
#else
enum { k_is_ahead = 0 }; // nothing is checked ahead of loops
#endif

static long s_keys[k_count];
static unsigned char s_bytes[k_count];

// As a sort by digits counts them.
NOINLINE static void count_digits(long* table, long const* keys, long count, long mask, int shift) {
    for (long k = 0; k < count; ++k) ++table[(keys[k] & mask) >> shift];
}
// Its load and its store are of one element, and share a check.
NOINLINE static void place(long* table, long const* keys, long* to, long count, long mask) {
    for (long k = 0; k < count; ++k) to[table[keys[k] & mask]++] = keys[k];
}
NOINLINE static long add_rests(int const* table, long const* keys, long count, unsigned divisor) {
    long sum = 0;
    for (long k = 0; k < count; ++k) sum += table[(unsigned)keys[k] % divisor];
    return sum;
}
NOINLINE static void count_bytes(int* table, unsigned char const* bytes, long count) {
    for (long k = 0; k < count; ++k) ++table[bytes[k]];
}
// A mask with the sign bounds nothing: the index is negative.
NOINLINE static void count_below(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) ++table[keys[k] & mask];
}
// Not in each turn.
NOINLINE static void count_some(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k)
        if (keys[k] % 3 == 0) ++table[keys[k] & mask];
}
// The mask changes on the way.
NOINLINE static void count_by_more(long* table, long const* keys, long count) {
    long mask = 0;
    for (long k = 0; k < count; ++k) {
        ++table[keys[k] & mask];
        mask = 2 * mask + 1 < k_digits ? 2 * mask + 1 : mask;
    }
}

// Its inlined loads have checks, too, that nobody is to miss.
__attribute__((always_inline)) static inline long sum_of(long const* table) {
    long sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k];
    return sum;
}

__attribute__((always_inline)) static inline void test_count_digits(long* table) {
    synchronise();
    unsigned long const single = checks_of(stores);
    unsigned long const ranges = checks_of(store_ranges);
    count_digits(table, s_keys, k_count, (k_digits - 1) << 4, 4);
    REQUIRE(!k_is_ahead || checks_of(stores) == single);
    REQUIRE(!k_is_ahead || checks_of(store_ranges) == ranges + 1);
    synchronise();
    count_digits(table, s_keys, k_few, (k_digits - 1) << 4, 4);
    REQUIRE(checks_of(stores) > single);
    REQUIRE(!k_is_ahead || checks_of(store_ranges) == ranges + 1);
    synchronise();
    count_digits(table, s_keys, 0, (k_digits - 1) << 4, 4);
    REQUIRE(sum_of(table) == k_count + k_few);
}

__attribute__((always_inline)) static inline void test_place(long* table) {
    long* const to = coherent_memory((k_digits + k_count) * sizeof(long));
    for (int k = 0; k < k_digits; ++k) table[k] = k;
    synchronise();
    place(table, s_keys, to, k_count, k_digits - 1);
    synchronise();
    place(table, s_keys, to, k_few, k_digits - 1);
    synchronise();
    REQUIRE(sum_of(table) == k_digits * (k_digits - 1) / 2 + k_count + k_few);
}

__attribute__((always_inline)) static inline void test_narrow(int* table) {
    for (int k = 0; k < k_digits; ++k) table[k] = 1;
    synchronise();
    REQUIRE(add_rests(table, s_keys, k_count, k_digits) == k_count);
    synchronise();
    REQUIRE(add_rests(table, s_keys, k_few, k_digits) == k_few);
    synchronise();
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    synchronise();
    count_bytes(table, s_bytes, k_count);
    synchronise();
    count_bytes(table, s_bytes, k_few);
    int sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k];
    REQUIRE(sum == k_count + k_few);
}

__attribute__((always_inline)) static inline void test_others(long* table) {
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    for (int k = 0; k < k_count; ++k) s_keys[k] = -(s_keys[k] % k_digits);
    synchronise();
    count_below(table + k_digits - 1, s_keys, k_count, -1);
    synchronise();
    REQUIRE(sum_of(table) == k_count);
    for (int k = 0; k < k_count; ++k) s_keys[k] = -s_keys[k];
    synchronise();
    count_some(table, s_keys, k_count, k_digits - 1);
    synchronise();
    count_by_more(table, s_keys, k_count);
    synchronise();
    REQUIRE(sum_of(table) > 2 * k_count);
}

int main(void) {
    long* const table = coherent_memory(k_digits * sizeof(long));
    for (int k = 0; k < k_count; ++k) {
        s_keys[k] = 7919L * (k + 1) * (k + 1);
        s_bytes[k] = (unsigned char)(s_keys[k] % k_digits);
    }
    test_count_digits(table);
    test_place(table);
    test_narrow(coherent_memory(256 * sizeof(int)));
    test_others(table);
    return 0;
}

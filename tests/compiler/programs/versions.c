// SPDX-License-Identifier: Apache-2.0
// Loops that load the pointers of rows again in each turn, as their stores might change them: where
// none does, the rows are checked ahead of the loop; where one does, they are others from then on.
#include "recorder.h"

enum { k_count = 40 };

// In rows, among which there may be pointers as well.
typedef long __attribute__((may_alias)) number;

#define NOINLINE __attribute__((noinline))

struct inner {
    number count;
};
struct pair {
    struct inner* inner;
};
struct holder {
    struct pair* pair;
};

#if defined __OPTIMIZE__ && !defined BY_DIRECTORY
enum { k_is_ahead = 1 };
#else
enum { k_is_ahead = 0 }; // nothing is checked ahead of loops
#endif

NOINLINE static void fill(number** rows, long count, long value) {
    for (long k = 0; k < count; ++k) rows[0][k] = value;
}
NOINLINE static void fill_backwards(number** rows, long count, long value) {
    for (long k = count - 1; k >= 0; --k) rows[0][k] = value;
}
// Two loads for each row.
NOINLINE static long add(number*** matrix, long at, long count) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        long const both = (*matrix)[at - 1][k] + (*matrix)[at + 1][k];
        sum += both;
        (*matrix)[at][k] = both;
    }
    return sum;
}
// The holder's pair is none until it is stored to.
NOINLINE static long follow(struct holder* h, struct pair** all, struct pair* const* from,
                            long count) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        all[k] = from[k];
        sum += h->pair->inner[k].count++;
    }
    return sum;
}
// Stores to one place again and again.
NOINLINE static void accumulate(number** total, number** rows, long count) {
    for (long k = 0; k < count; ++k) **total += rows[1][k];
}

__attribute__((always_inline)) static inline void test_fill(void (*how)(number**, long, long)) {
    number* const first = coherent_memory(k_count * sizeof(long));
    number* const other = coherent_memory(k_count * sizeof(long));
    number** const rows = coherent_memory(2 * sizeof *rows);
    rows[0] = first;
    synchronise();
    unsigned long const single = checks_of(stores);
    how(rows, k_count, 7);
    REQUIRE(!k_is_ahead || checks_of(stores) == single);
    synchronise();
    for (int k = 0; k < k_count; ++k) REQUIRE(first[k] == 7);
    // One of the stores is to the pointer itself, wherever it lies: the first, the last, and of
    // those between each place in a vector.
    for (long at = 0; at < k_count; at += 3) {
        for (int k = 0; k < k_count; ++k) first[k] = other[k] = 0;
        number** const among = (number**)(first + at);
        *among = first;
        synchronise();
        how(among, k_count, (long)other);
        synchronise();
        for (int k = 0; k < k_count; ++k) {
            int const is_later = how == fill ? k > at : k < at;
            REQUIRE(first[k] == (is_later ? 0 : (long)other));
            REQUIRE(other[k] == (is_later ? (long)other : 0));
        }
    }
}

__attribute__((always_inline)) static inline number** make_rows(number* block) {
    number** const rows = coherent_memory(3 * sizeof *rows);
    for (int r = 0; r < 3; ++r) rows[r] = block + r * k_count;
    return rows;
}

__attribute__((always_inline)) static inline void test_add(void) {
    enum { k_at = 20, k_first = 100 }; // where the matrix becomes another one
    number* const block = coherent_memory(3 * k_count * sizeof(long));
    number* const other_block = coherent_memory(3 * k_count * sizeof(long));
    number** const rows = make_rows(block);
    number** const other = make_rows(other_block);
    number*** const matrix = coherent_memory(sizeof *matrix);
    for (int k = 0; k < k_count; ++k) {
        rows[0][k] = k;
        rows[2][k] = 2 * k;
        other[0][k] = k_first;
        other[2][k] = k;
    }
    *matrix = rows;
    synchronise();
    unsigned long const single = checks_of(loads);
    REQUIRE(add(matrix, 1, k_count) == 3L * k_count * (k_count - 1) / 2);
    REQUIRE(!k_is_ahead || checks_of(loads) <= single + 3);
    synchronise();
    REQUIRE(block[k_count + 9] == 27);
    number*** const among = (number***)(rows[1] + k_at);
    *among = rows;
    rows[0][k_at] = (long)other - rows[2][k_at];
    synchronise();
    long expected = (long)other;
    for (int k = 0; k < k_count; ++k) expected += k < k_at ? 3 * k : k > k_at ? k_first + k : 0;
    REQUIRE(add(among, 1, k_count) == expected);
    synchronise();
    REQUIRE(*among == other && rows[1][k_at + 1] == 3 * (k_at + 1));
    REQUIRE(other[1][k_at] == 0 && other[1][k_at + 1] == k_first + k_at + 1);
}

__attribute__((always_inline)) static inline void test_follow(void) {
    struct inner* const inner = coherent_memory(2 * k_count * sizeof *inner);
    struct pair* const pairs = coherent_memory(2 * sizeof *pairs);
    struct pair** const from = coherent_memory(k_count * sizeof *from);
    struct pair** const all = coherent_memory((k_count + 1) * sizeof *all);
    for (int k = 0; k < 2; ++k) {
        pairs[k].inner = inner + k * k_count;
        for (int n = 0; n < k_count; ++n) pairs[k].inner[n].count = k + 1;
    }
    for (int k = 0; k < k_count; ++k) from[k] = pairs + k % 2;
    all[k_count] = pairs + 1;
    synchronise();
    REQUIRE(follow((struct holder*)(all + k_count), all, from, k_count) == 2 * k_count);
    all[0] = NULL;
    synchronise();
    REQUIRE(follow((struct holder*)all, all, from, k_count) == k_count);
}

__attribute__((always_inline)) static inline void test_accumulate(void) {
    number* const block = coherent_memory(k_count * sizeof(long));
    number** const rows = coherent_memory(2 * sizeof *rows);
    number** const total = coherent_memory(sizeof *total);
    number* const sum = coherent_memory(sizeof *sum);
    for (int k = 0; k < k_count; ++k) block[k] = k;
    rows[1] = block;
    *total = sum;
    synchronise();
    accumulate(total, rows, k_count);
    synchronise();
    REQUIRE(*sum == (long)k_count * (k_count - 1) / 2);
    // It adds to the pointer to the row, which goes on by a number for each turn.
    for (int k = 0; k < k_count; ++k) block[k] = k % 2 == 0 ? (long)sizeof(long) : 0;
    *total = (number*)(rows + 1);
    synchronise();
    accumulate(total, rows, 2);
    synchronise();
    REQUIRE(rows[1] == block + 2);
}

int main(void) {
    test_fill(fill);
    test_fill(fill_backwards);
    test_add();
    test_follow();
    test_accumulate();
    return 0;
}

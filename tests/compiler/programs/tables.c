// SPDX-License-Identifier: Apache-2.0
// Tables whose elements a loop touches in an order that nobody foresees, by an index that has
// bounds: with at least as many turns as there are elements the table is checked ahead of the loop,
// with fewer each element where it is touched.
#include "recorder.h"

#include <limits.h>

#include <tulle/coherent_abi.h>

enum { k_digits = 64, k_count = 100, k_few = 20, k_bytes = 257 };
enum { k_halves = 62 }; // a shift by which a sign stays

#define NOINLINE __attribute__((noinline))

#if defined __OPTIMIZE__ && !defined BY_DIRECTORY
enum { k_is_ahead = 1 };
#else
enum { k_is_ahead = 0 }; // nothing is checked ahead of loops
#endif

// 0, which the compiler does not know. Masks, shifts and divisors come through it: otherwise they
// would be constants within the functions that have them as arguments.
static long volatile s_nothing;
static long s_keys[k_count];
static unsigned char s_bytes[k_bytes];

// As a sort by digits counts them. Where the table is checked ahead the loop is the program's own
// (the compiler's test looks for that).
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
// Of whole words the rest is, to the compiler, a difference.
NOINLINE static long visit(long const* table, long const* keys, long count, unsigned long divisor) {
    long sum = 0;
    for (long k = 0; k < count; ++k) sum += table[(unsigned long)keys[k] % divisor];
    return sum;
}
// A divisor with the sign bounds nothing, either: the rest may have it.
NOINLINE static long visit_by_sign(long const* table, long const* keys, long count,
                                   unsigned long divisor, int shift) {
    long sum = 0;
    for (long k = 0; k < count; ++k)
        sum += table[(long)((unsigned long)keys[k] % divisor) >> shift];
    return sum;
}
NOINLINE static void count_bytes(int* table, unsigned char const* bytes, long count) {
    for (long k = 0; k < count; ++k) ++table[bytes[k]];
}
// A mask with the sign bounds nothing: the index is negative.
NOINLINE static void count_below(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) ++table[keys[k] & mask];
}
// What is left of the sign makes the index negative, though the mask without it would be bounded.
NOINLINE static void count_by_sign(long* table, long const* keys, long count, long mask,
                                   int shift) {
    for (long k = 0; k < count; ++k) ++table[(keys[k] & mask) >> shift];
}
// A product of two indices, of which each alone has a bound.
NOINLINE static void count_products(long* table, long const* keys, long count, long mask,
                                    long other) {
    for (long k = 0; k < count; ++k) ++table[(keys[k] & mask) * ((keys[k] >> 8) & other)];
}
// The program computes how many bytes it goes, of an index that was narrow.
NOINLINE static void count_by_bytes(char* table, long const* keys, long count, unsigned mask) {
    for (long k = 0; k < count; ++k)
        ++*(long*)(void*)(table + sizeof(long) * (unsigned long)((unsigned)keys[k] & mask));
}
// Nothing may be checked ahead of what synchronises.
NOINLINE static void count_and_synchronise(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) {
        ++table[keys[k] & mask];
        synchronise();
    }
}
// What has a bound is masked by what has none.
NOINLINE static void count_masked_twice(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) ++table[((keys[k] & mask) >> 1) & ~k];
}
// Two indices, each with a bound, of which no one alone tells where the element is.
enum { k_in_row = 16 };
NOINLINE static void count_in_rows(long (*table)[k_in_row], long const* keys, long count, long mask,
                                   long other) {
    for (long k = 0; k < count; ++k) ++table[keys[k] & mask][(keys[k] >> 8) & other];
}
// Of several lines each.
typedef long block __attribute__((vector_size(256)));
NOINLINE static void add_blocks(block* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) table[keys[k] & mask] += 1;
}
struct wide {
    long before[5];
    long field;
    long behind[4];
};
NOINLINE static void add_wide(struct wide* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) table[keys[k] & mask].field += 2;
}
// Two lines, of which the fields named here are near the boundary.
struct two_lines {
    long before[7];
    long low;
    long high;
    long behind[7];
};
NOINLINE static long add_both(struct two_lines const* table, long const* keys, long count,
                              long mask) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        struct two_lines const* const element = &table[keys[k] & mask];
        sum += element->low + element->high;
    }
    return sum;
}
NOINLINE static void copy_up(struct two_lines* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) {
        struct two_lines* const element = &table[keys[k] & mask];
        element->high = element->low + 1;
    }
}
NOINLINE static void copy_down(struct two_lines* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) {
        struct two_lines* const element = &table[keys[k] & mask];
        element->low = 1;
        if (element->high != 0) element->low = 2;
    }
}
NOINLINE static void add_down(struct two_lines* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) {
        struct two_lines* const element = &table[keys[k] & mask];
        element->low = element->low + element->high - 1;
    }
}
// Three lines, of which all are touched, the second one first.
struct three_lines {
    long fields[24];
};
NOINLINE static long add_three(struct three_lines const* table, long const* keys, long count,
                               long mask) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        long const* const fields = table[keys[k] & mask].fields;
        sum += fields[11] + fields[4] + fields[18] + fields[8] + fields[16];
    }
    return sum;
}
// A word of it may lie in two lines.
struct __attribute__((packed)) odd {
    char before[60];
    long field;
    char behind[60];
};
NOINLINE static void add_odd(struct odd* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) table[keys[k] & mask].field += 2;
}
// Something is loaded in some turns only, and ahead of what is loaded in each. Of the last element
// it is in a line that is no part of the table as far as that is checked.
NOINLINE static long add_some_first(struct two_lines const* table, long const* keys, long count,
                                    long mask) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        if (keys[k] % 3 == 0) sum += table[keys[k] & mask].high;
        s_bytes[k] = 1;
        sum += table[keys[k] & mask].low;
    }
    return sum;
}
// Something is stored in no turn.
NOINLINE static long clear_some(long* table, long const* keys, long count, long mask, long limit) {
    long sum = 0;
    for (long k = 0; k < count; ++k) {
        sum += table[keys[k] & mask];
        if (keys[k] > limit) table[keys[k] & mask] = 0;
    }
    return sum;
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
// So do the shift and the divisor.
NOINLINE static void count_by_shifts(long* table, long const* keys, long count, long mask) {
    for (long k = 0; k < count; ++k) ++table[(keys[k] & mask) >> (k & 3)];
}
NOINLINE static void count_by_divisors(long* table, long const* keys, long count, long least) {
    for (long k = 0; k < count; ++k)
        ++table[(unsigned long)keys[k] % (unsigned long)(least + (k & 7))];
}

// Its inlined loads have checks, too, that nobody is to miss.
__attribute__((always_inline)) static inline long sum_of(long const* table) {
    long sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k];
    return sum;
}

// How often something was checked by itself, and how often a range ahead of a loop.
static unsigned long singles(void) { return checks_of(loads) + checks_of(stores); }
static unsigned long ranges(void) { return checks_of(load_ranges) + checks_of(store_ranges); }
static unsigned long s_singles, s_ranges;

static void begin(void) {
    synchronise();
    s_singles = singles();
    s_ranges = ranges();
}
#define REQUIRE_AHEAD(count)                                                                       \
    REQUIRE(!k_is_ahead || (singles() == s_singles && ranges() == s_ranges + (count)))
#ifdef BY_DIRECTORY // of which no line has a state of its own, and loads are not counted
#define REQUIRE_SINGLE() REQUIRE(ranges() == s_ranges)
#define REQUIRE_ONE_STORABLE(at, other) REQUIRE((at) != (other))
#else
#define REQUIRE_SINGLE() REQUIRE(singles() > s_singles && (!k_is_ahead || ranges() == s_ranges))
#define REQUIRE_ONE_STORABLE(at, other) REQUIRE(may_be_stored(at) && !may_be_stored(other))
static int may_be_stored(void const* at) {
    return *(unsigned char const*)TULLE_COHERENT_STATE_OF(at) == 0;
}
#endif

__attribute__((always_inline)) static inline void test_count_digits(long* table) {
    long const mask = (k_digits - 1 + s_nothing) << 4;
    int const shift = 4 + (int)s_nothing;
    begin();
    count_digits(table, s_keys, k_count, mask, shift);
    REQUIRE_AHEAD(1);
    begin();
    count_digits(table, s_keys, k_digits, mask, shift); // as many turns as elements
    REQUIRE_AHEAD(1);
    begin();
    count_digits(table, s_keys, k_digits - 1, mask, shift);
    REQUIRE_SINGLE();
    begin();
    count_digits(table, s_keys, k_few, mask, shift);
    REQUIRE_SINGLE();
    begin();
    count_digits(table, s_keys, 0, mask, shift);
    REQUIRE_AHEAD(0);
    REQUIRE(sum_of(table) == k_count + 2 * k_digits - 1 + k_few);
}

__attribute__((always_inline)) static inline void test_place(long* table) {
    long* const to = coherent_memory((k_digits + k_count) * sizeof(long));
    for (int k = 0; k < k_digits; ++k) table[k] = k;
    synchronise();
    place(table, s_keys, to, k_count, k_digits - 1 + s_nothing);
    synchronise();
    place(table, s_keys, to, k_few, k_digits - 1 + s_nothing);
    synchronise();
    REQUIRE(sum_of(table) == k_digits * (k_digits - 1) / 2 + k_count + k_few);
}

__attribute__((always_inline)) static inline void test_narrow(int* table) {
    unsigned const divisor = k_digits - 3 + (unsigned)s_nothing;
    for (int k = 0; k < k_digits; ++k) table[k] = 1;
    begin();
    REQUIRE(add_rests(table, s_keys, k_count, divisor) == k_count);
    REQUIRE_AHEAD(1);
    begin();
    REQUIRE(add_rests(table, s_keys, (long)divisor, divisor) == (long)divisor);
    REQUIRE_AHEAD(1);
    begin();
    REQUIRE(add_rests(table, s_keys, (long)divisor - 1, divisor) == (long)divisor - 1);
    REQUIRE_SINGLE();
    REQUIRE(add_rests(table, s_keys, 0, (unsigned)s_nothing) == 0);
    synchronise();
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    begin();
    count_bytes(table, s_bytes, k_bytes);
    REQUIRE_AHEAD(1);
    begin();
    count_bytes(table, s_bytes, k_few);
    REQUIRE_SINGLE();
    int sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k];
    REQUIRE(sum == k_bytes + k_few);
}

__attribute__((always_inline)) static inline void test_visit(long* table) {
    unsigned long const divisor = k_digits - 3 + (unsigned long)s_nothing;
    long sum = 0, few = 0;
    for (int k = 0; k < k_digits; ++k) table[k] = k;
    for (int k = 0; k < k_count; ++k) sum += s_keys[k] % (k_digits - 3);
    for (int k = 0; k < k_few; ++k) few += s_keys[k] % (k_digits - 3);
    begin();
    REQUIRE(visit(table, s_keys, k_count, divisor) == sum);
    REQUIRE_AHEAD(1);
    begin();
    REQUIRE(visit(table, s_keys, k_few, divisor) == few);
    REQUIRE_SINGLE();
    REQUIRE(visit(table, s_keys, 0, (unsigned long)s_nothing) == 0);
}

__attribute__((always_inline)) static inline void test_indices(long* table) {
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    synchronise();
    count_products(table, s_keys, k_count, 15 + s_nothing, 3 + s_nothing);
    begin();
    count_by_bytes((char*)table, s_keys, k_count, k_digits - 1 + (unsigned)s_nothing);
    REQUIRE_AHEAD(1);
    begin();
    count_by_bytes((char*)table, s_keys, k_few, k_digits - 1 + (unsigned)s_nothing);
    REQUIRE_SINGLE();
    for (int sparse = 0; sparse < 2; ++sparse) {
        long const count = sparse ? k_few : k_count;
        begin();
        count_and_synchronise(table, s_keys, count, k_digits - 1 + s_nothing);
        REQUIRE_SINGLE();
        begin();
        count_masked_twice(table, s_keys, count, 2 * k_digits - 1 + s_nothing);
        REQUIRE(!k_is_ahead || ranges() == s_ranges + !sparse);
    }
    synchronise();
    count_in_rows((long(*)[k_in_row])table, s_keys, k_count, k_digits / k_in_row - 1 + s_nothing,
                  k_in_row - 1 + s_nothing);
    synchronise();
    REQUIRE(sum_of(table) == 5 * k_count + 3 * k_few);
}

__attribute__((always_inline)) static inline void test_wide(struct wide* table) {
    long const mask = k_digits - 1 + s_nothing;
    begin();
    add_wide(table, s_keys, k_count, mask);
    REQUIRE_AHEAD(1);
    begin();
    add_wide(table, s_keys, k_few, mask);
    REQUIRE_SINGLE();
    long sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k].field;
    REQUIRE(sum == 2 * (k_count + k_few));
}

// The recorder sees an access to two lines as one to the first, unless these are of two pages, as
// those of the last element are.
static struct odd* odd_table(void) {
    enum { k_page = 4096 };
    uintptr_t const block = (uintptr_t)coherent_memory(k_digits * sizeof(struct odd) + 2 * k_page);
    return (struct odd*)((block + k_page - 1) / k_page * k_page + TULLE_COHERENT_LINE);
}
__attribute__((always_inline)) static inline void test_odd(struct odd* table) {
    long const mask = k_digits - 1 + s_nothing;
    begin();
    add_odd(table, s_keys, k_count, mask);
    REQUIRE_AHEAD(1);
    begin();
    add_odd(table, s_keys, k_few, mask);
    REQUIRE_SINGLE();
    long sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += table[k].field;
    REQUIRE(sum == 2 * (k_count + k_few));
}

__attribute__((always_inline)) static inline void test_blocks(block* table) {
    long const mask = k_digits - 1 + s_nothing;
    synchronise();
    add_blocks(table, s_keys, k_count, mask);
    synchronise();
    add_blocks(table, s_keys, k_few, mask);
    long sum = 0;
    for (int k = 0; k < k_digits; ++k) sum += ((long const*)&table[k])[12];
    REQUIRE(sum == k_count + k_few);
}

// Neighbours share a check, but no line may be stored to because another one is.
__attribute__((always_inline)) static inline void test_lines(struct two_lines* table) {
    long const mask = k_digits - 1 + s_nothing;
    struct two_lines const* const first = &table[s_keys[0] & mask];
    for (int k = 0; k < k_digits; ++k) table[k].low = table[k].high = 1;
    begin();
    REQUIRE(add_both(table, s_keys, k_count, mask) == 2 * k_count);
    REQUIRE_AHEAD(1);
    begin();
    REQUIRE(add_both(table, s_keys, k_few, mask) == 2 * k_few);
    REQUIRE_SINGLE();
    begin();
    copy_up(table, s_keys, k_few, mask);
    REQUIRE_ONE_STORABLE(&first->high, &first->low);
    synchronise();
    copy_up(table, s_keys, k_count, mask);
    begin();
    copy_down(table, s_keys, k_few, mask);
    REQUIRE_ONE_STORABLE(&first->low, &first->high);
    synchronise();
    copy_down(table, s_keys, k_count, mask);
    begin();
    add_down(table, s_keys, k_few, mask);
    REQUIRE_ONE_STORABLE(&first->low, &first->high);
    synchronise();
    add_down(table, s_keys, k_count, mask);
    REQUIRE(first->low > 2 && first->high == 2);
}

__attribute__((always_inline)) static inline void test_three(struct three_lines* table) {
    long const mask = k_digits - 1 + s_nothing;
    for (int k = 0; k < k_digits; ++k)
        for (int field = 0; field < 24; ++field) table[k].fields[field] = 1;
    begin();
    REQUIRE(add_three(table, s_keys, k_count, mask) == 5 * k_count);
    begin();
    REQUIRE(add_three(table, s_keys, k_few, mask) == 5 * k_few);
    REQUIRE_SINGLE();
}

__attribute__((always_inline)) static inline void test_some(long* table) {
    long const mask = k_digits / 2 - 1 + s_nothing;
    struct two_lines* const lines = coherent_memory(k_digits / 2 * sizeof(struct two_lines));
    for (int k = 0; k < k_digits; ++k) table[k] = lines[k / 2].low = lines[k / 2].high = 1;
    synchronise();
    REQUIRE(add_some_first(lines, s_keys, k_few, mask) > k_few);
    synchronise();
    REQUIRE(add_some_first(lines, s_keys, k_count, mask) > k_count);
    long* const first = &table[s_keys[0] & mask];
    long* const other = coherent_memory(sizeof(long));
    for (long count = k_few; count <= k_count; count += k_count - k_few) {
        synchronise();
        *other = 1;
        REQUIRE(clear_some(table, s_keys, count, mask, LONG_MAX) == count);
        REQUIRE_ONE_STORABLE(other, first);
        synchronise();
        REQUIRE(clear_some(table, s_keys, 1, mask, 0) == 1);
        *first = 1;
    }
    synchronise(); // of so many turns, the last one stores
    REQUIRE(clear_some(table, s_keys, k_count, mask, s_keys[k_count - 2]) == k_count);
    table[s_keys[k_count - 1] & mask] = 1;
}

__attribute__((always_inline)) static inline void test_below(long* table) {
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    for (int k = 0; k < k_count; ++k) s_keys[k] = -(s_keys[k] % k_digits);
    synchronise();
    count_below(table + k_digits - 1, s_keys, k_count, -1 + s_nothing);
    synchronise();
    REQUIRE(sum_of(table) == k_count);
    for (int k = 0; k < k_count; ++k) s_keys[k] = -s_keys[k];
    begin();
    count_below(table, s_keys, k_count, k_digits - 1 + s_nothing);
    REQUIRE_AHEAD(1);
    synchronise();
    REQUIRE(sum_of(table) == 2 * k_count);
}

// Indices of -2 to 1.
__attribute__((always_inline)) static inline void test_by_sign(long* table) {
    long* const middle = table + k_digits / 2;
    long const mask = -(1L << 8) + s_nothing;
    int const shift = k_halves + (int)s_nothing;
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    for (int k = 0; k < k_count; ++k)
        s_keys[k] = (long)((unsigned long)(s_keys[k] + k) << (k_halves - 1));
    synchronise();
    count_by_sign(middle, s_keys, k_count, mask, shift);
    synchronise();
    REQUIRE(sum_of(table) == k_count && middle[-2] > 0 && middle[-1] > 0 && middle[1] > 0);
    begin();
    count_by_sign(middle, s_keys, k_count, LONG_MAX + s_nothing, shift);
    REQUIRE_AHEAD(1);
    begin();
    REQUIRE(visit_by_sign(middle, s_keys, k_count, ULONG_MAX + (unsigned long)s_nothing, shift) >
            0);
    REQUIRE_SINGLE();
    begin();
    REQUIRE(visit_by_sign(middle, s_keys, k_count, LONG_MAX + (unsigned long)s_nothing, shift) > 0);
    REQUIRE_AHEAD(1);
}

__attribute__((always_inline)) static inline void test_others(long* table) {
    for (int k = 0; k < k_digits; ++k) table[k] = 0;
    synchronise();
    count_some(table, s_keys, k_count, k_digits - 1 + s_nothing);
    synchronise();
    count_by_more(table, s_keys, k_count);
    synchronise();
    count_by_shifts(table, s_keys, k_count, k_digits - 1 + s_nothing);
    synchronise();
    count_by_divisors(table, s_keys, k_count, k_digits / 2 + s_nothing);
    synchronise();
    REQUIRE(sum_of(table) > 3 * k_count);
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
    test_visit(table);
    test_indices(table);
    test_wide(coherent_memory(k_digits * sizeof(struct wide)));
    test_blocks(coherent_memory((k_digits + 3) * sizeof(block)));
    test_odd(odd_table());
    test_lines(coherent_memory(k_digits * sizeof(struct two_lines)));
    test_three(coherent_memory(k_digits * sizeof(struct three_lines)));
    test_some(table);
    test_others(table);
    test_below(table);
    test_by_sign(table);
    return 0;
}

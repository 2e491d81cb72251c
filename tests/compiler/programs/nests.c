// SPDX-License-Identifier: Apache-2.0
// Nests of loops: rows with gaps between them, an inner loop that a condition may skip, three
// levels, triangles, and bounds of which one loop's depend on the other's number.
#include "recorder.h"

#include <tulle/coherent_abi.h>

enum { k_rows = 12, k_columns = 40, k_line = 64, k_short = 8, k_bytes = 66 };

#define NOINLINE __attribute__((noinline))

NOINLINE static void fill(double* m, int rows, int columns, int line) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) m[r * line + c] = r + c;
}
NOINLINE static double sum(double const* m, int rows, int columns, long line) {
    double s = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) s += m[r * line + c];
    return s;
}
NOINLINE static double by_columns(double const* m, int rows, int columns, long line) {
    double s = 0;
    for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) s += m[r * line + c];
    return s;
}
NOINLINE static void guarded(double* m, int rows, int columns, long line, int wanted) {
    for (int r = 0; r < rows; ++r)
        if (wanted)
            for (int c = 0; c < columns; ++c) m[r * line + c] += 1;
}
// Both conditions are known ahead of the outer loop, and the pointer leads nowhere if one of them
// fails. What is counted between them keeps them apart.
NOINLINE static void guarded_twice(double* m, int* count, int rows, int first, int second) {
    for (int r = 0; r < rows; ++r)
        if (first) {
            *count += 1;
            if (second)
                for (int c = 0; c < k_short; ++c) m[c] += 1;
        }
}
NOINLINE static double triangle(double const* m, int rows, long line) {
    double s = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c <= r; ++c) s += m[r * line + c];
    return s;
}
// A turn of the outer loop ends ahead of the inner one, the bound of which is below 0 then.
NOINLINE static void until_negative(double* restrict m, double* restrict begun, int rows, int n) {
    for (int r = 0; r < rows; ++r) {
        begun[r] = 1;
        if (n < 0) break;
        for (int c = 0; c <= n; ++c) m[c] += 1;
    }
}
// The loop begins where a jump leads that has its place from a table: nothing can be put ahead.
NOINLINE static double sum_from_label(double const* m, int columns, int begins) {
    static void const* const s_labels[] = {&&ends, &&next};
    double s = 0;
    int c = 0;
    goto* s_labels[begins];
next:
    s += m[c];
    if (++c < columns) goto next;
ends:
    return s;
}
// A turn may end the loop ahead of what it would load, the place of which is then anything.
static int s_ends[k_rows];
NOINLINE static double sum_until(double const* m, int rows) {
    double s = 0;
    for (int r = 0; r < rows; ++r) {
        if (s_ends[r] != 0) break;
        s += *m * r;
    }
    return s;
}
// So few bytes that their states are looked at together, in as many lines as there may be.
NOINLINE static int sum_of_bytes(char const* s) {
    int all = 0;
#pragma clang loop unroll(disable) vectorize(disable)
    for (int k = 0; k < k_bytes; ++k) all += s[k];
    return all;
}
// Rows far from each other, between which nothing is touched.
NOINLINE static void two_rows(double* m, int columns) {
    for (int c = 0; c < columns; ++c) {
        m[c] = 1;
        m[c + 4 * k_line] = 2;
    }
}
// Lines of bytes that were not to be touched have no right to be stored to. By the directory no
// line has one of its own.
__attribute__((always_inline)) static inline int is_storable(void const* at) {
    return *(unsigned char const*)TULLE_COHERENT_STATE_OF(at) == 0;
}
#ifdef BY_DIRECTORY
enum { k_has_rights = 0 };
#else
enum { k_has_rights = 1 };
#endif
NOINLINE static void multiply(double* restrict out, double const* a, double const* b, int n) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) out[i * n + j] += a[i * n + k] * b[k * n + j];
}

__attribute__((always_inline)) static inline void test_two_guards(double* m, int* count) {
    double* const nowhere = (double*)(void*)(1UL << 62);
    double const before = m[0];
    synchronise();
    guarded_twice(m, count, k_rows, 1, 1);
    REQUIRE(m[0] == before + k_rows && *count == k_rows);
    synchronise();
    REQUIRE(sum_until(m, k_rows) == m[0] * (k_rows * (k_rows - 1) / 2));
    s_ends[0] = 1;
    REQUIRE(sum_until(nowhere, k_rows) == 0);
    synchronise();
    guarded_twice(nowhere, count, k_rows, 1, 0);
    REQUIRE(*count == 2 * k_rows);
    guarded_twice(nowhere, count, k_rows, 0, 1);
    guarded_twice(nowhere, count, k_rows, 0, 0);
    REQUIRE(*count == 2 * k_rows);
}

// Of three lines the first two may be touched already.
__attribute__((always_inline)) static inline void test_bytes(char* s) {
    for (int k = 0; k < k_bytes; ++k) s[k + 63] = 1;
    synchronise();
    REQUIRE(s[63] == 1 && s[64] == 1);
    REQUIRE(sum_of_bytes(s + 63) == k_bytes);
}

int main(void) {
    double* m = coherent_memory(k_rows * k_line * sizeof *m);
    double* out = coherent_memory(k_rows * k_rows * sizeof *out);
    double const all = 12 * (39 * 40 / 2) + 40 * (11 * 12 / 2);
    fill(m, k_rows, k_columns, k_line);
    synchronise();
    REQUIRE(sum(m, k_rows, k_columns, k_line) == all);
    synchronise();
    REQUIRE(sum(m + 11 * k_line, k_rows, k_columns, -k_line) == all);
    synchronise();
    REQUIRE(by_columns(m, k_rows, k_columns, k_line) == all);
    synchronise();
    guarded(m, k_rows, k_columns, k_line, 1);
    synchronise();
    guarded(m, k_rows, k_columns, k_line, 0);
    guarded(m, k_rows, 0, k_line, 1);
    REQUIRE(sum(m, k_rows, k_columns, k_line) == all + 480);
    synchronise();
    REQUIRE(triangle(m, k_rows, k_line) > 0);
    synchronise();
    until_negative(m, out, k_rows, -5);
    REQUIRE(!k_has_rights || (is_storable(out) && !is_storable(m + k_line)));
    until_negative(m, out, 1, k_columns - 1);
    REQUIRE(!k_has_rights || (is_storable(m) && !is_storable(m + k_line)));
    synchronise();
    REQUIRE(sum_from_label(m, k_columns, 0) == 0);
    REQUIRE(sum_from_label(m, k_columns, 1) > 0);
    synchronise();
    two_rows(m, k_columns);
    REQUIRE(!k_has_rights || (is_storable(m) && is_storable(m + 4 * k_line)));
    REQUIRE(!k_has_rights || !is_storable(m + 2 * k_line));
    synchronise();
    multiply(out, m, m + 200, k_rows);
    synchronise();
    REQUIRE(out[0] > 0 && out[k_rows * k_rows - 1] > 0);
    test_bytes(coherent_memory(192));
    test_two_guards(m, coherent_memory(sizeof(int)));
    return 0;
}

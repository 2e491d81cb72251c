// SPDX-License-Identifier: Apache-2.0
// Nests of loops: rows with gaps between them, an inner loop that a condition may skip, three
// levels, triangles, and bounds of which one loop's depend on the other's number.
#include "recorder.h"

#include <tulle/coherent_abi.h>

enum { k_rows = 12, k_columns = 40, k_line = 64 };

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
    multiply(out, m, m + 200, k_rows);
    synchronise();
    REQUIRE(out[0] > 0 && out[k_rows * k_rows - 1] > 0);
    return 0;
}

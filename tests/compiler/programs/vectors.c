// SPDX-License-Identifier: Apache-2.0
// Accesses of vectors, aligned or over the boundary of two lines.
#include "recorder.h"

typedef float four __attribute__((vector_size(16)));
typedef float unaligned_four __attribute__((vector_size(16), aligned(4)));
typedef long unaligned_long __attribute__((aligned(1)));

#define NOINLINE __attribute__((noinline))

NOINLINE static float sum(four const* v) { return (*v)[0] + (*v)[3]; }
NOINLINE static float sum_anywhere(unaligned_four const* v) { return (*v)[0] + (*v)[3]; }
NOINLINE static void store_anywhere(unaligned_four* v) {
    unaligned_four const value = {1, 2, 3, 4};
    *v = value;
}
NOINLINE static void store_long(unaligned_long* l) { *l = 77; }
NOINLINE static void scale(float* restrict to, float const* restrict from, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[i] * 2;
}
NOINLINE static void gather(float* restrict to, float const* restrict from,
                            int const* restrict which, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[which[i]];
}

int main(void) {
    float* a = coherent_memory(4096);
    float* b = coherent_memory(4096);
    store_anywhere((unaligned_four*)(a + 14)); // bytes 56 to 71
    synchronise();
    REQUIRE(sum_anywhere((unaligned_four*)(a + 14)) == 5);
    synchronise();
    REQUIRE(sum((four*)(void*)(a + 16)) == 3);
    store_long((unaligned_long*)(void*)((char*)a + 124));
    synchronise();
    REQUIRE(*(unaligned_long*)(void*)((char*)a + 124) == 77);
    synchronise();
    scale(b + 3, a + 14, 500);
    synchronise();
    REQUIRE(b[3] == 2 && b[6] == 8);
    synchronise();
    int* which = coherent_memory(8 * sizeof *which);
    for (int i = 0; i < 8; ++i) which[i] = i < 4 ? 14 + i : 300 * (i % 4);
    synchronise();
    gather(b, a, which, 8);
    synchronise();
    REQUIRE(b[0] == 1 && b[3] == 4 && b[4] == a[0] && b[7] == 0);
    return 0;
}

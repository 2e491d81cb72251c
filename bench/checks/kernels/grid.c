// SPDX-License-Identifier: Apache-2.0
// Smooths a grid, from one to the other and back.
#include "kernel.h"

enum { k_sweeps = 10 };

static void smooth(double* to, double const* from, int n) {
    for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < n - 1; ++j)
            to[i * n + j] = (from[i * n + j] + from[(i - 1) * n + j] + from[(i + 1) * n + j] +
                             from[i * n + j - 1] + from[i * n + j + 1]) /
                            5;
}

int kernel_size(int is_short) { return is_short ? 14 : 700; }

size_t kernel_bytes(int size) { return 2 * (size_t)size * size * sizeof(double); }

uint64_t run_kernel(void* memory, int size) {
    double* a = memory;
    double* b = a + (size_t)size * size;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size * size; ++i) a[i] = b[i] = (double)(next_random(&random) % 100);
    for (int sweep = 0; sweep < k_sweeps; ++sweep) {
        smooth(b, a, size);
        smooth(a, b, size);
    }
    for (int i = 0; i < size * size; ++i) hash = mix(hash, bits_of(a[i]));
    return hash;
}

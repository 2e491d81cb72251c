// SPDX-License-Identifier: Apache-2.0
// Factors a matrix into triangles, by blocks, where the matrix lies row after row, so that blocks
// have gaps between their rows.
#include "kernel.h"

enum { k_block = 16 };

static void factor(double* a, int n) {
    for (int k = 0; k < k_block; ++k)
        for (int i = k + 1; i < k_block; ++i) {
            a[i * n + k] /= a[k * n + k];
            double const f = a[i * n + k];
            for (int j = k + 1; j < k_block; ++j) a[i * n + j] -= f * a[k * n + j];
        }
}

static void solve_row(double const* diagonal, double* a, int n) {
    for (int k = 0; k < k_block; ++k)
        for (int i = k + 1; i < k_block; ++i)
            for (int j = 0; j < k_block; ++j) a[i * n + j] -= diagonal[i * n + k] * a[k * n + j];
}

static void solve_column(double const* diagonal, double* a, int n) {
    for (int i = 0; i < k_block; ++i)
        for (int k = 0; k < k_block; ++k) {
            a[i * n + k] /= diagonal[k * n + k];
            for (int j = k + 1; j < k_block; ++j)
                a[i * n + j] -= a[i * n + k] * diagonal[k * n + j];
        }
}

static void subtract_product(double* to, double const* a, double const* b, int n) {
    for (int i = 0; i < k_block; ++i)
        for (int k = 0; k < k_block; ++k)
            for (int j = 0; j < k_block; ++j) to[i * n + j] -= a[i * n + k] * b[k * n + j];
}

static void step(double* m, int n, int k) {
    double* diagonal = m + (size_t)k * n + k;
    factor(diagonal, n);
    for (int i = k + k_block; i < n; i += k_block) {
        solve_row(diagonal, m + (size_t)k * n + i, n);
        solve_column(diagonal, m + (size_t)i * n + k, n);
    }
    for (int i = k + k_block; i < n; i += k_block)
        for (int j = k + k_block; j < n; j += k_block)
            subtract_product(m + (size_t)i * n + j, m + (size_t)i * n + k, m + (size_t)k * n + j,
                             n);
}

int kernel_size(int is_short) { return is_short ? 32 : 640; }

size_t kernel_bytes(int size) { return (size_t)size * size * sizeof(double); }

uint64_t run_kernel(void* memory, int size) {
    double* m = memory;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size * size; ++i) m[i] = (double)(next_random(&random) % 1000) / 1000;
    for (int i = 0; i < size; ++i) m[i * size + i] += size;
    for (int k = 0; k < size; k += k_block) step(m, size, k);
    for (int i = 0; i < size * size; ++i) hash = mix(hash, bits_of(m[i]));
    return hash;
}

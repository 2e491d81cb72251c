// SPDX-License-Identifier: Apache-2.0
// Factors a matrix into triangles, by blocks of which each lies in one piece.
#include "kernel.h"

enum { k_block = 16 };

static double* block_at(double* m, int blocks, int row, int column) {
    return m + ((size_t)row * blocks + column) * k_block * k_block;
}

static void factor(double* a) {
    for (int k = 0; k < k_block; ++k)
        for (int i = k + 1; i < k_block; ++i) {
            a[i * k_block + k] /= a[k * k_block + k];
            double const f = a[i * k_block + k];
            for (int j = k + 1; j < k_block; ++j) a[i * k_block + j] -= f * a[k * k_block + j];
        }
}

static void solve_row(double const* diagonal, double* a) {
    for (int k = 0; k < k_block; ++k)
        for (int i = k + 1; i < k_block; ++i)
            for (int j = 0; j < k_block; ++j)
                a[i * k_block + j] -= diagonal[i * k_block + k] * a[k * k_block + j];
}

static void solve_column(double const* diagonal, double* a) {
    for (int i = 0; i < k_block; ++i)
        for (int k = 0; k < k_block; ++k) {
            a[i * k_block + k] /= diagonal[k * k_block + k];
            for (int j = k + 1; j < k_block; ++j)
                a[i * k_block + j] -= a[i * k_block + k] * diagonal[k * k_block + j];
        }
}

static void subtract_product(double* to, double const* a, double const* b) {
    for (int i = 0; i < k_block; ++i)
        for (int k = 0; k < k_block; ++k)
            for (int j = 0; j < k_block; ++j)
                to[i * k_block + j] -= a[i * k_block + k] * b[k * k_block + j];
}

static void step(double* m, int blocks, int k) {
    double* diagonal = block_at(m, blocks, k, k);
    factor(diagonal);
    for (int i = k + 1; i < blocks; ++i) {
        solve_row(diagonal, block_at(m, blocks, k, i));
        solve_column(diagonal, block_at(m, blocks, i, k));
    }
    for (int i = k + 1; i < blocks; ++i)
        for (int j = k + 1; j < blocks; ++j)
            subtract_product(block_at(m, blocks, i, j), block_at(m, blocks, i, k),
                             block_at(m, blocks, k, j));
}

int kernel_size(int is_short) { return is_short ? 32 : 640; }

size_t kernel_bytes(int size) { return (size_t)size * size * sizeof(double); }

uint64_t run_kernel(void* memory, int size) {
    double* m = memory;
    int const blocks = size / k_block;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size * size; ++i) m[i] = (double)(next_random(&random) % 1000) / 1000;
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < k_block; ++i) block_at(m, blocks, b, b)[i * k_block + i] += size;
    for (int k = 0; k < blocks; ++k) step(m, blocks, k);
    for (int i = 0; i < size * size; ++i) hash = mix(hash, bits_of(m[i]));
    return hash;
}

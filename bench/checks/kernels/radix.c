// SPDX-License-Identifier: Apache-2.0
// Sorts numbers by their digits.
#include "kernel.h"

#include <string.h>

enum { k_digit_bits = 8, k_digits = 1 << k_digit_bits, k_key_bits = 32 };

static void pass(uint32_t const* from, uint32_t* to, uint32_t* ranks, int n, int shift) {
    memset(ranks, 0, k_digits * sizeof *ranks);
    for (int i = 0; i < n; ++i) ++ranks[from[i] >> shift & (k_digits - 1)];
    uint32_t sum = 0;
    for (int d = 0; d < k_digits; ++d) {
        uint32_t const count = ranks[d];
        ranks[d] = sum;
        sum += count;
    }
    for (int i = 0; i < n; ++i) to[ranks[from[i] >> shift & (k_digits - 1)]++] = from[i];
}

int kernel_size(int is_short) { return is_short ? 500 : 1 << 21; }

size_t kernel_bytes(int size) { return (2 * (size_t)size + k_digits) * sizeof(uint32_t); }

uint64_t run_kernel(void* memory, int size) {
    uint32_t* keys = memory;
    uint32_t* other = keys + size;
    uint32_t* ranks = other + size;
    uint64_t random = 1, hash = 0;
    for (int i = 0; i < size; ++i) keys[i] = (uint32_t)next_random(&random);
    for (int shift = 0; shift < k_key_bits; shift += 2 * k_digit_bits) {
        pass(keys, other, ranks, size, shift);
        pass(other, keys, ranks, size, shift + k_digit_bits);
    }
    for (int i = 0; i < size; ++i) hash = mix(hash, keys[i]);
    return hash;
}

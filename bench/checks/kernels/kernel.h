// SPDX-License-Identifier: Apache-2.0
// A kernel is a small program on one block of memory: it fills it, computes, and returns a number
// made of all results. Benchmarks and tests compile it with and without checks.
#pragma once

#include <stddef.h>
#include <stdint.h>

size_t kernel_bytes(int size);
uint64_t run_kernel(void* memory, int size);
int kernel_size(int is_short); // what a benchmark takes, or a test

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}
static inline uint64_t bits_of(double value) {
    union {
        double as_double;
        uint64_t as_word;
    } both = {value};
    return both.as_word;
}
static inline uint64_t next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

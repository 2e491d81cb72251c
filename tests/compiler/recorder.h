// SPDX-License-Identifier: Apache-2.0
// A run time that finds accesses without a check. Its coherent memory can never be touched: each
// access faults, and is let through for one instruction if the state of its line allows it; else
// the program ends with a message. Every line begins as one that may not be touched, and is one
// again after each `synchronise`. Programs of the tests see this header only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void* coherent_memory(size_t bytes); // zeros, at a boundary of lines
void synchronise(void);              // what was checked must be checked again
void tulle_coherent_acquire(void);   // likewise: what a program calls
enum counted {
    loads,
    stores,
    load_ranges,
    store_ranges,
    load_rows,
    store_rows,
    atomics,
    releases, // of fences
    kinds
};
unsigned long checks_of(enum counted kind); // slow paths of that kind so far
void require(int holds, char const* text, int line);

#define REQUIRE(condition) require((condition), #condition, __LINE__)

#ifdef __cplusplus
}
#endif

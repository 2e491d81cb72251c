// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of bench/checks, in coherent memory that the recorder watches, or in memory of
// malloc (PLAIN), and prints its result.
#include "kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PLAIN
static void* memory_of(size_t bytes) { return malloc(bytes); }
#else
#include "recorder.h"
static void* memory_of(size_t bytes) { return coherent_memory(bytes); }
#endif

int main(void) {
    int const size = kernel_size(1);
    void* memory = memory_of(kernel_bytes(size));
    if (memory == NULL) return 1;
    printf("%" PRIx64 "\n", run_kernel(memory, size));
    return 0;
}

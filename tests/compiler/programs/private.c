// SPDX-License-Identifier: Apache-2.0
// Variables of the stack, of the program and of threads, and blocks of malloc, need no checks.
#include "recorder.h"

#include <stdlib.h>

static int s_numbers[100];
static _Thread_local int s_own;

int main(int argc, char** argv) {
    (void)argv;
    int local[100];
    int* block = malloc(sizeof local);
    if (block == NULL) return 1;
    for (int i = 0; i < 100; ++i) local[i] = s_numbers[i] = i * argc;
    for (int i = 0; i < 100; ++i) block[i] = local[99 - i] + s_own;
    s_own = block[argc] + s_numbers[argc];
    free(block);
    return s_own != 99;
}

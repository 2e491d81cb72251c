/* SPDX-License-Identifier: Apache-2.0 */
/* What C tests say of what is not as it should be, before they end with 1. */
#ifndef TULLE_TESTS_CHECK_H
#define TULLE_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

static inline void check(int holds, const char* what, const char* file, int line) {
    if (holds) return;
    fprintf(stderr, "%s:%d: %s is not true\n", file, line, what);
    exit(1);
}

#endif

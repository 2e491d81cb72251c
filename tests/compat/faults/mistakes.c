/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that mean something at node 0 only, followed at node 1. Argument: which. */
#include "check.h"

#include <tnt.h>

#include <stdlib.h>
#include <string.h>

static long* of_node; /* stored at node 0 */
static long value = 5;

static void* reads(void* argument) { return (void*)*(long*)argument; }
static void* reads_variable(void* argument) {
    (void)argument;
    return (void*)*of_node;
}

int main(int argc, char** argv) {
    char const* const which = argc > 1 ? argv[1] : "";
    long local = 3;
    long* const large = malloc((size_t)1 << 24U);
    long* const small = malloc(64);
    tnt_t thread;
    void* result = NULL;
    if (large == NULL || small == NULL) return 2;
    CHECK(tnt_init(0) == 0);
    *large = *small = 4;
    of_node = &value;
    void* const argument = strcmp(which, "stack") == 0   ? &local
                           : strcmp(which, "heap") == 0  ? small
                           : strcmp(which, "large") == 0 ? large
                                                         : NULL;
    CHECK(tnt_create_at(&thread, tnt_nodes() - 1, argument != NULL ? reads : reads_variable,
                        argument) == 0);
    CHECK(tnt_join(thread, &result) == 0);
    free(large);
    free(small);
    return (int)(long)result;
}

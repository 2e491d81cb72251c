// SPDX-License-Identifier: Apache-2.0
// Counts how often the dynamic linker is asked to give the variables of threads their first values
// again, and tells that at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

void* _dl_allocate_tls_init(void* block, bool initializes);

static atomic_int s_calls;

void* _dl_allocate_tls_init(void* block, bool initializes) {
    void* (*linkers)(void*, bool) = NULL;
    *(void**)&linkers = dlsym(RTLD_NEXT, "_dl_allocate_tls_init");
    atomic_fetch_add(&s_calls, 1);
    return (*linkers)(block, initializes);
}

__attribute__((destructor)) static void tell(void) {
    fprintf(stderr, "asked %d times\n", atomic_load(&s_calls));
}

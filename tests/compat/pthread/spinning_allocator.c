// SPDX-License-Identifier: Apache-2.0
// An allocator in front of the C library's that begins when it is first called, as Chromium's does:
// it registers handlers of forks then, and holds a lock of its own, by which a call within itself
// would wait for ever. A constructor calls it, before that of libtulle-preload.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

void* __libc_malloc(size_t);

static atomic_flag s_lock = ATOMIC_FLAG_INIT;
static int s_has_begun;

static void hold(void) {
    while (atomic_flag_test_and_set(&s_lock)) {}
}
static void let_go(void) { atomic_flag_clear(&s_lock); }

void* malloc(size_t bytes) {
    hold();
    if (s_has_begun == 0) {
        s_has_begun = 1;
        pthread_atfork(hold, let_go, let_go);
    }
    let_go();
    return __libc_malloc(bytes);
}

static void* volatile s_taken;

__attribute__((constructor)) static void begin(void) {
    s_taken = malloc(1);
    puts("memory before main");
    fflush(stdout);
}

// SPDX-License-Identifier: Apache-2.0
// An allocator in front of the C library's, as jemalloc and others are, that locks a mutex of POSIX
// threads around each call, and around forks. Threads may hold the mutex for a while: whoever takes
// memory meanwhile waits as for any other mutex.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;

// How often more than a page has been asked for.
extern int large_requests;
int large_requests;
static void note_size(size_t bytes) {
    enum { k_page = 4096 };
    if (bytes > k_page) __atomic_fetch_add(&large_requests, 1, __ATOMIC_RELAXED);
}

void hold_allocator(void);
void let_go_of_allocator(void);
// Initial-exec: to reach it takes no memory.
static __thread int t_holds __attribute__((tls_model("initial-exec")));
void hold_allocator(void) {
    pthread_mutex_lock(&s_lock);
    t_holds = 1;
}
void let_go_of_allocator(void) {
    t_holds = 0;
    pthread_mutex_unlock(&s_lock);
}

// A handler of the program's may have locked it already.
static void hold_for_fork(void) {
    if (!t_holds) hold_allocator();
}
__attribute__((constructor)) static void begin(void) {
    pthread_atfork(hold_for_fork, let_go_of_allocator, let_go_of_allocator);
}

void* malloc(size_t bytes) {
    note_size(bytes);
    hold_allocator();
    void* const made = __libc_malloc(bytes);
    let_go_of_allocator();
    return made;
}
void* calloc(size_t count, size_t bytes) {
    hold_allocator();
    void* const made = __libc_calloc(count, bytes);
    let_go_of_allocator();
    return made;
}
void* realloc(void* before, size_t bytes) {
    hold_allocator();
    void* const made = __libc_realloc(before, bytes);
    let_go_of_allocator();
    return made;
}
void free(void* made) {
    hold_allocator();
    __libc_free(made);
    let_go_of_allocator();
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    note_size(bytes);
    hold_allocator();
    void* const made = __libc_memalign(alignment, bytes);
    let_go_of_allocator();
    return made;
}
void* memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }
int posix_memalign(void** made, size_t alignment, size_t bytes) {
    *made = aligned_alloc(alignment, bytes);
    return *made == NULL ? ENOMEM : 0;
}

// SPDX-License-Identifier: Apache-2.0
// Threads find their variables as new, whatever those before them have left in the memory that they
// get: some that come one after the other, and crowds.
#define _GNU_SOURCE
#include "cases.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <netdb.h>
#include <resolv.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { k_keys = 100, k_crowd = 30, k_rounds = 20 };

static __thread int t_number = 5;
static __thread char t_room[2000];
static __thread char t_text[] = "as new";
// More than any variable of the C library, as some of liburcu have.
static __thread _Alignas(512) char t_aligned = 8;
static pthread_key_t s_keys[k_keys];
static pthread_barrier_t s_all;
static int* (*s_late_number)(void);
static char* (*s_late_room)(void);
static int s_late_bytes;

static int spoil(char* room, size_t bytes) {
    int dirty = 0;
    for (size_t k = 0; k != bytes; ++k) dirty += room[k] != 0;
    memset(room, 'x', bytes);
    return dirty;
}

// How many were not as new; none is afterwards.
static int spoil_all(void) {
    int dirty = (t_number != 5) + (strcmp(t_text, "as new") != 0) + spoil(t_room, sizeof t_room);
    dirty += (errno != 0) + (h_errno != 0) + (uselocale(NULL) != LC_GLOBAL_LOCALE);
    dirty += (_res.options & RES_INIT) != 0;
    for (int k = 0; k != k_keys; ++k) {
        dirty += pthread_getspecific(s_keys[k]) != NULL;
        pthread_setspecific(s_keys[k], t_room);
    }
    if (s_late_number != NULL) {
        dirty += (*s_late_number() != 11) + spoil(s_late_room(), (size_t)s_late_bytes);
        *s_late_number() = 12;
    }
    t_number = 6;
    t_text[0] = 'A';
    uselocale(newlocale(LC_ALL_MASK, "C", NULL));
    errno = h_errno = 1;
    return dirty;
}

static void* spoils(void* is_of_crowd) {
    intptr_t const dirty = spoil_all();
    if (is_of_crowd != NULL) pthread_barrier_wait(&s_all);
    return (void*)dirty;
}

static intptr_t spoil_in_threads(void) {
    pthread_t t[k_crowd];
    intptr_t dirty = 0;
    for (int k = 0; k != k_crowd; ++k) dirty += (intptr_t)in_thread(spoils, NULL);
    for (int k = 0; k != k_crowd; ++k) pthread_create(&t[k], NULL, spoils, &s_all);
    for (int k = 0; k != k_crowd; ++k) {
        void* result = NULL;
        pthread_join(t[k], &result);
        dirty += (intptr_t)result;
    }
    return dirty;
}

static void begin(void) {
    for (int k = 0; k != k_keys; ++k) pthread_key_create(&s_keys[k], NULL);
    pthread_barrier_init(&s_all, NULL, k_crowd);
}

void variables_used_again(void) {
    begin();
    intptr_t dirty = 0;
    for (int k = 0; k != k_rounds; ++k) dirty += spoil_in_threads();
    SHOW(dirty);
}

// One after the other, each in the memory of the one before.
static void* makes_many(void* argument) {
    enum { k_many = 1000 };
    intptr_t dirty = 0;
    for (int k = 0; k != k_many; ++k) dirty += (intptr_t)in_thread(spoils, NULL);
    SHOW(dirty);
    return argument;
}

void variables_of_many(void) {
    begin();
    in_thread(makes_many, NULL);
}

// --- aligned ones --------------------------------------------------------------------------------

// Whether it is aligned and as new.
static void* looks_at_aligned(void* all) {
    char* volatile const at = &t_aligned; // the compiler does not know that it is aligned
    intptr_t const is_good = (uintptr_t)at % 512 == 0 && t_aligned == 8;
    t_aligned = 9;
    if (all != NULL) pthread_barrier_wait(&s_all); // so that none has the memory of another one
    return (void*)is_good;
}

void aligned_variables(void) {
    enum { k_some = 3 };
    pthread_t t[k_some];
    SHOW(looks_at_aligned(NULL) != NULL);
    pthread_barrier_init(&s_all, NULL, k_some);
    for (int k = 0; k != k_some; ++k) pthread_create(&t[k], NULL, looks_at_aligned, &s_all);
    for (int k = 0; k != k_some; ++k) {
        void* is_good = NULL;
        pthread_join(t[k], &is_good);
        SHOW(is_good != NULL);
    }
    SHOW(in_thread(looks_at_aligned, NULL) != NULL); // in memory that is used again
}

// --- what the C library does for its own new threads ---------------------------------------------

static pthread_mutex_t s_recursive;
static void* s_resolver_of_main;

// Compiled code finds these at a fixed distance from the thread pointer, and in each thread alike.
static struct fixed {
    unsigned long guard_of_stacks;
    int is_of_64_bits; // as one property of the processor
} s_fixed_of_main;

static struct fixed fixed_of_caller(void) {
    struct fixed found = {0, 0};
#if defined(__x86_64__)
    __asm__ volatile("movq %%fs:40, %0" : "=r"(found.guard_of_stacks));
#elif defined(__powerpc64__)
    __asm__ volatile("ld %0, -0x7010(13)" : "=r"(found.guard_of_stacks));
    found.is_of_64_bits = __builtin_cpu_supports("ppc64") != 0;
#endif
    return found;
}

static void says_so(void) { SHOW(t_number); }

// Another processor than the first, where there is one: that number is also what nobody wrote.
static void go_to_last_processor(void) {
    cpu_set_t allowed, last;
    CPU_ZERO(&last);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) abort();
    for (size_t k = CPU_SETSIZE - 1; CPU_COUNT(&last) == 0; --k) {
        if (CPU_ISSET(k, &allowed)) CPU_SET(k, &last);
    }
    if (sched_setaffinity(0, sizeof last, &last) != 0) abort();
}

static void* tries_to_lock(void* argument) {
    (void)argument;
    return (void*)(intptr_t)pthread_mutex_trylock(&s_recursive);
}

static void* looks_at_its_parts(void* argument) {
    struct fixed const fixed = fixed_of_caller();
    SHOW(fixed.guard_of_stacks == s_fixed_of_main.guard_of_stacks);
    SHOW(fixed.is_of_64_bits == s_fixed_of_main.is_of_64_bits);
    int letters = 0;
    for (int c = 0; c != 128; ++c) letters += isalpha(c) != 0;
    SHOW(letters);
    SHOW(toupper('x'));
    SHOW((void*)&_res != s_resolver_of_main);
    unsigned now = 0, then = 1;
    int told = -1;
    while (now != then) {
        syscall(SYS_getcpu, &now, NULL, NULL);
        told = sched_getcpu();
        syscall(SYS_getcpu, &then, NULL, NULL);
    }
    SHOW(told == (int)now);
    SHOW(pthread_mutex_lock(&s_recursive));
    SHOW(pthread_mutex_lock(&s_recursive));
    SHOW(in_thread(tries_to_lock, NULL) == (void*)(intptr_t)EBUSY);
    SHOW(pthread_mutex_unlock(&s_recursive));
    SHOW(pthread_mutex_unlock(&s_recursive));
    SHOW(atexit(says_so)); // it is kept encrypted by a guard, which main must have, too
    return argument;
}

void parts_of_threads(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s_recursive, &kind);
    s_resolver_of_main = &_res;
    s_fixed_of_main = fixed_of_caller();
    go_to_last_processor();
    in_thread(looks_at_its_parts, NULL);
    in_thread(looks_at_its_parts, NULL); // in memory that is used again
}

#ifndef CASES_ARE_STATIC
static void* find(void* library, char const* name) {
    void* const found = dlsym(library, name);
    if (found == NULL) abort();
    return found;
}

static void* fails_to_open(void* argument) {
    SHOW(dlopen("/nowhere/nothing.so", RTLD_NOW) == NULL);
    if (argument == NULL) return NULL;
    SHOW(dlerror() != NULL);
    SHOW(dlopen("/nowhere/nothing.so", RTLD_NOW) == NULL);
    SHOW(dlerror() != NULL);
    return NULL;
}
static void* has_no_error(void* argument) {
    SHOW(dlerror() == NULL);
    return argument;
}

// An error is its thread's, whether it has asked for it or not.
void errors_of_libraries(void) {
    for (int k = 0; k != 3; ++k) {
        in_thread(fails_to_open, NULL);
        in_thread(has_no_error, NULL);
        in_thread(fails_to_open, "");
        in_thread(has_no_error, NULL);
    }
}

static void* open_here(char const* path) { return dlopen(path, RTLD_NOW); }
// With a C library of its own, and out of sight of who goes through the libraries of the program.
static void* open_apart(char const* path) { return dlmopen(LM_ID_NEWLM, path, RTLD_NOW); }

struct late {
    char const* path;
    void* (*open)(char const* path);
    int rounds;
};

// The library comes and goes while the memory of threads is used again.
static void* come_and_go(void* argument) {
    struct late const* const of = argument;
    SHOW(spoil_in_threads());
    SHOW(spoil_in_threads());
    for (int k = 0; k != of->rounds; ++k) {
        void* const library = (*of->open)(of->path);
        if (library == NULL) abort();
        SHOW(spoil_in_threads());
        int (*bytes)(void) = NULL;
        *(void**)&bytes = find(library, "late_bytes");
        s_late_bytes = (*bytes)();
        *(void**)&s_late_number = find(library, "late_number");
        *(void**)&s_late_room = find(library, "late_room");
        SHOW(spoil_in_threads());
        SHOW(spoil_in_threads());
        s_late_number = NULL;
        dlclose(library);
    }
    return NULL;
}

// Threads are made by a thread, and by main.
static void come_and_go_in_both(struct late of) {
    begin();
    in_thread(come_and_go, &of);
    come_and_go(&of);
}
void late_variables(void) {
    come_and_go_in_both((struct late){LATE_VARIABLES, open_here, k_rounds});
}
void late_variables_of_few_bytes(void) {
    come_and_go_in_both((struct late){LATE_AND_FEW_VARIABLES, open_here, k_rounds});
}

static sem_t s_is_there;
static void* looks_when_loaded(void* is_loaded) {
    sem_post(&s_is_there);
    sem_wait(is_loaded);
    SHOW(*s_late_number());
    SHOW(s_late_room()[0]);
    *s_late_number() = 12;
    return NULL;
}
// Threads that there are find first values, too, as long as the model lets them.
void late_variables_of_living(void) {
    enum { k_threads = 3 };
    pthread_t threads[k_threads];
    sem_t is_loaded[k_threads];
    sem_init(&s_is_there, 0, 0);
    for (int k = 0; k != k_threads; ++k) {
        sem_init(&is_loaded[k], 0, 0);
        pthread_create(&threads[k], NULL, looks_when_loaded, &is_loaded[k]);
    }
    for (int k = 0; k != k_threads; ++k) sem_wait(&s_is_there);
    void* const library = open_here(LATE_AND_SMALL_VARIABLES);
    if (library == NULL) abort();
    *(void**)&s_late_number = find(library, "late_number");
    *(void**)&s_late_room = find(library, "late_room");
    for (int k = 0; k != k_threads; ++k) {
        sem_post(&is_loaded[k]);
        pthread_join(threads[k], NULL);
    }
    SHOW(*s_late_number());
    s_late_number = NULL;
    dlclose(library);
}
// There are 16 name spaces at most, and little memory for variables of that model in all of them.
void late_variables_apart(void) {
    come_and_go_in_both((struct late){LATE_VARIABLES, open_apart, 2});
    come_and_go_in_both((struct late){LATE_AND_FEW_VARIABLES, open_apart, 2});
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Cases that run with an allocator whose mutex is one of POSIX threads (locking_allocator.c), while
// somebody holds it: nothing that takes memory meanwhile may stop those for whom it waits. Without
// that allocator nobody holds anything.
#define _GNU_SOURCE
#include "cases.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void do_nothing(void) {}
static void (*find(char const* name))(void) {
    void (*found)(void) = NULL;
#ifndef CASES_ARE_STATIC
    *(void**)&found = dlsym(RTLD_DEFAULT, name);
#else
    (void)name;
#endif
    return found != NULL ? found : do_nothing;
}
static void hold(void) { find("hold_allocator")(); }
static void let_go(void) { find("let_go_of_allocator")(); }

static atomic_bool s_is_held;
static atomic_int s_ready, s_done;

static void* holds_for_a_while(void* unused) {
    hold();
    s_is_held = true;
    usleep(100000);
    let_go();
    return unused;
}

static void* takes_memory(void* unused) {
    while (!s_is_held) usleep(1000);
    free(malloc(100));
    return unused;
}
static int resolve(void) {
#ifndef CASES_ARE_STATIC // the linker warns of it
    struct addrinfo* found = NULL;
    int const error = getaddrinfo("127.0.0.1", "80", NULL, &found);
    if (error == 0) freeaddrinfo(found);
    return error;
#else
    return 0;
#endif
}
static int s_resolved = -1;
static void* resolves(void* unused) {
    while (!s_is_held) usleep(1000);
    s_resolved = resolve();
    return unused;
}

// OS threads that are none of ours until they wait for the mutex.
void allocator_and_os_threads(void) {
    pthread_attr_t on_first;
    cpu_set_t first;
    pthread_t t[3];
    CPU_ZERO(&first);
    CPU_SET((size_t)sched_getcpu(), &first);
    pthread_attr_init(&on_first);
    pthread_attr_setaffinity_np(&on_first, sizeof first, &first);
    pthread_create(&t[0], &on_first, takes_memory, NULL);
    pthread_create(&t[1], NULL, resolves, NULL);
    usleep(20000);
    pthread_create(&t[2], NULL, holds_for_a_while, NULL);
    for (int k = 0; k != 3; ++k) SHOW(pthread_join(t[k], NULL));
    SHOW(s_resolved);
}

static void* ends_soon(void* unused) {
    usleep(1000);
    ++s_done;
    return unused;
}

// Memory is given back by whoever has nothing to do.
void allocator_and_idleness(void) {
    enum { k_threads = 40 };
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int round = 0; round != 3; ++round) {
        pthread_t t;
        s_done = 0;
        for (int k = 0; k != k_threads; ++k) pthread_create(&t, &detached, ends_soon, NULL);
        while (s_done != k_threads) usleep(2000);
        usleep(10000);
        hold();
        usleep(90000);
        let_go();
    }
    SHOW(s_done);
}

static void* forks(void* unused) {
    ++s_ready;
    while (!s_is_held) usleep(1000);
    pid_t const child = fork();
    if (child == 0) {
        free(malloc(100));
        _exit(0);
    }
    SHOW(end_of(child));
    ++s_done;
    return unused;
}
static void* sleeps_often(void* unused) {
    ++s_ready;
    while (s_done == 0) usleep(1000);
    return unused;
}
void allocator_and_forks(void) {
    pthread_t t[2];
    pthread_create(&t[0], NULL, forks, NULL);
    pthread_create(&t[1], NULL, sleeps_often, NULL);
    while (s_ready != 2) usleep(1000);
    hold();
    s_is_held = true;
    usleep(50000);
    let_go();
    for (int k = 0; k != 2; ++k) SHOW(pthread_join(t[k], NULL));
}

static atomic_bool s_is_to_hold;
static atomic_int s_names, s_rounds;
static int s_ends[2];
static void hold_and_wait(void) {
    if (!s_is_to_hold) return;
    hold();
    ++s_rounds;
    usleep(50000); // the other thread wants memory, most times
}
static void* forks_and_holds(void* unused) {
    pthread_atfork(hold_and_wait, NULL, NULL); // called before those that are there already
    for (int round = 0; round != 2; ++round) {
        while (s_names != round + 1) usleep(1000);
        s_is_to_hold = true;
        pid_t const child = fork();
        if (child == 0) _exit(0);
        s_is_to_hold = false;
        s_ends[round] = end_of(child);
        s_done = round + 1;
    }
    return unused;
}
static void* ends_with_name(void* unused) {
    ++s_names;
    while (s_rounds != 2) usleep(1000);
    return unused;
}
static void* gets_name(void* unused) {
    pthread_t other;
    ++s_names;
    while (s_rounds != 1) usleep(1000);
    pthread_setname_np(pthread_self(), "first");
    while (s_done != 1) usleep(1000);
    pthread_create(&other, NULL, ends_with_name, NULL);
    pthread_setname_np(other, "second");
    pthread_join(other, NULL);
    return unused;
}
// A thread is given a name, and then another one that has one ends, while a third one forks and has
// the allocator.
void allocator_and_names(void) {
    pthread_t t[2];
    pthread_create(&t[0], NULL, gets_name, NULL);
    pthread_create(&t[1], NULL, forks_and_holds, NULL);
    for (int k = 0; k != 2; ++k) SHOW(pthread_join(t[k], NULL));
    for (int k = 0; k != 2; ++k) SHOW(s_ends[k]);
}

static void ignore(int signal) { (void)signal; }
static void* waits_and_calls(void* file) {
    ++s_ready;
    while (!s_is_held) usleep(1000);
    struct sigaction const how = {.sa_handler = ignore};
    if (file != NULL)
        fsync(*(int*)file);
    else
        sigaction(SIGUSR1, &how, NULL);
    return NULL;
}

// Those that start OS threads of the run time, at the same time.
void allocator_and_helpers(void) {
    pthread_t t[4];
    int file = open("/dev/null", O_WRONLY);
    for (int k = 0; k != 4; ++k) pthread_create(&t[k], NULL, waits_and_calls, k < 2 ? &file : NULL);
    while (s_ready != 4) usleep(1000);
    hold();
    s_is_held = true;
    usleep(50000);
    let_go();
    for (int k = 0; k != 4; ++k) SHOW(pthread_join(t[k], NULL));
    close(file);
}

// --- first values of variables -------------------------------------------------------------------

static __thread int t_numbers[200] = {7, 8, 9};
static atomic_bool s_is_over;
static atomic_int s_dirty;

// It does not look for the functions while it holds the allocator: the dynamic linker takes memory
// and gives it back under its own lock.
static void* holds_often(void* unused) {
    void (*const hold_it)(void) = find("hold_allocator");
    void (*const let_go_of_it)(void) = find("let_go_of_allocator");
    while (!s_is_over) {
        hold_it();
        usleep(1000);
        let_go_of_it();
        usleep(300);
    }
    return unused;
}
// Those of a library that came late are made at their first use, by the allocator.
static void* spoils_variables(void* late_number) {
    bool dirty = t_numbers[0] != 7 || t_numbers[1] != 8 || t_numbers[2] != 9;
    for (int k = 3; k != 200; ++k) dirty |= t_numbers[k] != 0;
    for (int k = 0; k != 200; ++k) t_numbers[k] = -1;
    if (late_number != NULL) {
        int* (*late)(void) = NULL;
        *(void**)&late = late_number;
        dirty |= *(*late)() != 11;
        *(*late)() = 12;
    }
    s_dirty += dirty;
    return NULL;
}
static void crowd(void* late_number) {
    enum { k_crowd = 8 };
    pthread_t t[k_crowd];
    for (int k = 0; k != k_crowd; ++k) pthread_create(&t[k], NULL, spoils_variables, late_number);
    for (int k = 0; k != k_crowd; ++k) pthread_join(t[k], NULL);
}
// Threads begin in memory that others have used, while the allocator makes whoever calls it wait,
// so that who has begun on one worker may go on on another one.
void allocator_and_variables(void) {
    enum { k_rounds = 4 };
    pthread_t holder;
    pthread_create(&holder, NULL, holds_often, NULL);
    for (int round = 0; round != k_rounds; ++round) {
        for (int k = 0; k != 10; ++k) crowd(NULL);
#ifndef CASES_ARE_STATIC
        void* const library = dlopen(round % 2 ? LATE_VARIABLES : LATE_AND_FEW_VARIABLES, RTLD_NOW);
        for (int k = 0; k != 3; ++k) crowd(dlsym(library, "late_number"));
        dlclose(library);
#endif
    }
    s_is_over = true;
    SHOW(pthread_join(holder, NULL));
    SHOW(s_dirty);
}

static int s_none; // without that allocator
static int* count_of_large(void) {
    int* found = NULL;
#ifndef CASES_ARE_STATIC
    found = dlsym(RTLD_DEFAULT, "large_requests");
#endif
    return found != NULL ? found : &s_none;
}
static void* does_nothing(void* unused) { return unused; }
static void* begins_others_again(void* unused) {
    int* const large = count_of_large();
    in_thread(does_nothing, NULL);
    int const before = __atomic_load_n(large, __ATOMIC_RELAXED);
    for (int k = 0; k != 50; ++k) in_thread(does_nothing, NULL);
    SHOW(__atomic_load_n(large, __ATOMIC_RELAXED) - before);
    return unused;
}
// What is kept of first values is more than a page: whoever waited for it there might go on where
// another one keeps its own.
void allocator_and_first_values(void) { in_thread(begins_others_again, NULL); }

// SPDX-License-Identifier: Apache-2.0
// Cases of how threads begin and end, main among them, and of how a process ends with the last one.
// A thread whose stack is the program's own is one of the C library.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// --- the end of a process ------------------------------------------------------------------------

static pthread_t s_main;
static pthread_key_t s_key;

static pthread_t start_on_own_stack(void* (*f)(void*), void* argument) {
    enum { k_size = 1 << 18 };
    pthread_attr_t how;
    pthread_t t;
    void* const memory =
        mmap(NULL, k_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&how);
    if (memory == MAP_FAILED || pthread_attr_setstack(&how, memory, k_size) != 0 ||
        pthread_create(&t, &how, f, argument) != 0)
        abort();
    return t;
}

// Runs `f` in a child, which is to end by itself.
static void show_end_of_child(void (*f)(void)) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        f();
        _exit(77);
    }
    for (int k = 0; k != 1500; ++k, usleep(10000)) {
        siginfo_t about = {.si_pid = 0};
        if (waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            about.si_pid != 0) {
            SHOW(end_of(child));
            return;
        }
    }
    puts("it stands still");
    kill(child, SIGKILL);
    end_of(child);
}

static void say_that_process_ends(void) { puts("the process ends"); }

static atomic_int s_other_ends;

// The other thread has ended long since.
static void clean_up(void* text) {
    while (atomic_load(&s_other_ends) == 0) usleep(1000);
    usleep(50000);
    puts(text);
}

static void* cancels_main(void* argument) {
    usleep(20000);
    SHOW(pthread_cancel(s_main));
    atomic_store(&s_other_ends, 1);
    return argument;
}
static void wait_to_be_cancelled(void) {
    pthread_t t;
    s_main = pthread_self();
    pthread_create(&t, NULL, cancels_main, NULL);
    pthread_cleanup_push(clean_up, "main was cancelled");
    sleep(100);
    pthread_cleanup_pop(0);
}

void cancelled_main(void) {
    atexit(say_that_process_ends);
    show_end_of_child(wait_to_be_cancelled);
    wait_to_be_cancelled();
}

static void* makes_thread_late(void* argument) {
    usleep(30000); // main has ended long since
    SHOW(in_thread(add_own, (void*)2) == (void*)9);
    return argument;
}
static void exit_with_os_thread(void) {
    start_on_own_stack(makes_thread_late, NULL);
    pthread_exit(NULL);
}

static void* sleeps(void* argument) {
    usleep(20000);
    atomic_store(&s_other_ends, 1);
    return argument;
}
static void exit_without_descriptors(void) {
    struct rlimit none = {3, 3};
    pthread_t t;
    pthread_create(&t, NULL, sleeps, NULL);
    usleep(1000);
    setrlimit(RLIMIT_NOFILE, &none);
    pthread_cleanup_push(clean_up, "main exits");
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static void exit_with_value(void) {
    pthread_t t;
    pthread_create(&t, NULL, sleeps, NULL);
    pthread_key_create(&s_key, clean_up);
    pthread_setspecific(s_key, "main has a value");
    pthread_exit(NULL);
}

static void* returns_in_child(void* argument) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0)
        in_thread(add_own, NULL);
    else
        SHOW(end_of(child));
    return argument;
}
static void fork_on_os_thread(void) {
    in_thread(add_own, NULL);
    pthread_join(start_on_own_stack(returns_in_child, NULL), NULL);
    exit(0);
}

void exits_of_main(void) {
    show_end_of_child(exit_with_os_thread);
    show_end_of_child(exit_without_descriptors);
    show_end_of_child(exit_with_value);
    show_end_of_child(fork_on_os_thread);
}

static void* has_value(void* argument) {
    pthread_setspecific(s_key, argument);
    usleep(20000); // main has ended
    return NULL;
}

// What they have to do is done before the process ends, though there is nobody else.
void ends_of_os_threads(void) {
    in_thread(add_own, NULL);
    pthread_key_create(&s_key, clean_up);
    atomic_store(&s_other_ends, 1);
    start_on_own_stack(has_value, "it has a value");
    pthread_exit(NULL);
}

static int s_exits;

static void exit_again(void* value) {
    printf("destroyed: %d\n", ++s_exits);
    if (s_exits % 3 != 0) pthread_setspecific(s_key, value);
    pthread_exit((void*)(intptr_t)s_exits);
}
static void* has_value_to_exit(void* by_exit) {
    pthread_setspecific(s_key, "");
    if (by_exit != NULL) pthread_exit(by_exit);
    return NULL;
}

// A destructor ends the thread that is ending, and leaves another value.
void exits_in_destructors(void) {
    pthread_key_create(&s_key, exit_again);
    SHOW((intptr_t)in_thread(has_value_to_exit, NULL));
    SHOW((intptr_t)in_thread(has_value_to_exit, ""));
}

// --- an end by a system call ---------------------------------------------------------------------

static pthread_key_t s_own;
static atomic_int s_counted;
static void count_value(void* value) { atomic_fetch_add(&s_counted, value != NULL); }

// As natively, the system ends it where it is: it is joined, and nothing of it is destroyed.
static void* calls_exit(void* argument) {
    pthread_setspecific(s_own, argument);
    pthread_cleanup_push(count_value, argument);
    syscall(SYS_exit, 0);
    pthread_cleanup_pop(0);
    return argument;
}
static void* has_own(void* argument) {
    SHOW(pthread_setspecific(s_own, argument));
    return argument;
}

// In a forked child it is the only one.
static void* forks_and_calls_exit(void* argument) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) syscall(SYS_exit, 5);
    SHOW(end_of(child));
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) syscall(SYS_exit, 6);
    SHOW(end_of(child));
    return argument;
}

void exits_by_system_call(void) {
    in_both(forks_and_calls_exit);
    SHOW(pthread_key_create(&s_own, count_value));
    for (int k = 0; k != 5; ++k) {
        void* result = &result;
        pthread_t t;
        pthread_create(&t, NULL, calls_exit, &s_own);
        SHOW(pthread_join(t, &result));
        SHOW(result == NULL);
    }
    SHOW(atomic_load(&s_counted));
    SHOW(in_thread(has_own, &s_own) == &s_own);
    SHOW(atomic_load(&s_counted));
}

// --- threads that cannot be made -----------------------------------------------------------------

static atomic_int s_goes_on;

static void nothing(int signal) { (void)signal; }

// Each would take the signal if there were memory for its stack.
static void* fails_to_make_some(void* argument) {
    pthread_attr_t how;
    sigset_t none;
    sigemptyset(&none);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, (size_t)1 << 46);
    pthread_attr_setsigmask_np(&how, &none);
    while (atomic_load(&s_goes_on) != 0) {
        pthread_t t;
        if (pthread_create(&t, &how, sleeps, NULL) != EAGAIN) abort();
    }
    return argument;
}

static int takes_within_seconds(sigset_t const* one) {
    struct timespec const at_once = {0, 0};
    for (int k = 0; k != 3000; ++k, usleep(1000))
        if (sigtimedwait(one, NULL, &at_once) == SIGUSR1) return 1;
    return 0;
}

void signals_and_failures(void) {
    struct sigaction const how = {.sa_handler = nothing};
    sigset_t one;
    pthread_t t;
    int taken = 0;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigaction(SIGUSR1, &how, NULL);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    atomic_store(&s_goes_on, 1);
    pthread_create(&t, NULL, fails_to_make_some, NULL);
    for (int k = 0; k != 500; ++k) {
        kill(getpid(), SIGUSR1);
        taken += takes_within_seconds(&one);
        if (taken != k + 1) break;
    }
    SHOW(taken);
    atomic_store(&s_goes_on, 0);
    pthread_join(t, NULL);
}

// --- stacks --------------------------------------------------------------------------------------

enum { k_guarded = 64, k_stack_bytes = 1 << 18, k_guard_bytes = 1 << 20 };
static pthread_barrier_t s_all;

static void* writes_below_its_stack(void* writes) {
    pthread_attr_t how;
    void* stack = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &how) != 0) abort();
    pthread_attr_getstack(&how, &stack, &size);
    pthread_barrier_wait(&s_all);
    if (writes != NULL) *(char volatile*)((char*)stack - 600 * 1024) = 1;
    pthread_barrier_wait(&s_all);
    return NULL;
}
static void write_below_a_stack(void) {
    struct rlimit const no_core = {0, 0};
    pthread_attr_t how;
    pthread_t t[k_guarded];
    setrlimit(RLIMIT_CORE, &no_core);
    pthread_barrier_init(&s_all, NULL, k_guarded);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, k_stack_bytes);
    pthread_attr_setguardsize(&how, k_guard_bytes);
    for (int k = 0; k != k_guarded; ++k)
        pthread_create(&t[k], &how, writes_below_its_stack, k == k_guarded / 2 ? &how : NULL);
    for (int k = 0; k != k_guarded; ++k) pthread_join(t[k], NULL);
    puts("it was not guarded");
}

// A store that passes by a page, and by the stacks of others.
void large_guards(void) { show_end_of_child(write_below_a_stack); }

// All that is told of it, from the lowest byte on, and much of that by frames.
static void* writes_own_stack(void* argument) {
    pthread_attr_t how;
    void* stack = NULL;
    size_t size = 0;
    uintptr_t const here = (uintptr_t)&size;
    SHOW(pthread_getattr_np(pthread_self(), &how));
    SHOW(pthread_attr_getstack(&how, &stack, &size));
    SHOW(argument == NULL || size == (size_t)argument);
    SHOW(here > (uintptr_t)stack && here < (uintptr_t)stack + size);
    for (uintptr_t at = (uintptr_t)stack; at < here - 8192; at += 1024) *(char volatile*)at = 1;
    pthread_attr_destroy(&how);
    return argument;
}

static void* writes_below_own_stack(void* unused) {
    pthread_attr_t how;
    void* stack = NULL;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &how);
    pthread_attr_getstack(&how, &stack, &size);
    ((char volatile*)stack)[-1] = 1;
    puts("there is more below it");
    return unused;
}

static size_t s_bytes_of_stack;

static void write_below_a_whole_stack(void) {
    pthread_t t;
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, s_bytes_of_stack);
    pthread_create(&t, &how, writes_below_own_stack, NULL);
    pthread_join(t, NULL);
}

// Neither less than was asked for nor, for sizes that are powers of two, more.
void whole_stacks(void) {
    static size_t const sizes[] = {1 << 14, 1 << 15, 1 << 16, 1 << 20};
    for (size_t k = 0; k != sizeof sizes / sizeof *sizes; ++k) {
        pthread_t t;
        pthread_attr_t how;
        pthread_attr_init(&how);
        pthread_attr_setstacksize(&how, sizes[k]);
        pthread_create(&t, &how, writes_own_stack, (void*)sizes[k]);
        SHOW(pthread_join(t, NULL));
        s_bytes_of_stack = sizes[k];
        show_end_of_child(write_below_a_whole_stack);
    }
    in_thread(writes_own_stack, NULL);
}

static int s_levels = 1 << 20;
static int goes_deeper(int level) {
    char volatile frame[512];
    frame[0] = (char)level;
    return level == s_levels ? 0 : goes_deeper(level + 1) + frame[0];
}
static void* goes_too_deep(void* unused) {
    SHOW(goes_deeper(0));
    return unused;
}

// For a test that looks at what is told of it: of a thread without attributes.
void overflow_a_stack(void) { in_thread(goes_too_deep, NULL); }

// Of more than 1 GiB, by attributes or for all threads of the process.
void large_stacks(void) {
    size_t const size = ((size_t)1 << 30) + ((size_t)64 << 20);
    pthread_t t;
    pthread_attr_t how;
    void* result = NULL;
    pthread_attr_init(&how);
    SHOW(pthread_attr_setstacksize(&how, size));
    SHOW(pthread_create(&t, &how, add_own, (void*)3));
    SHOW(pthread_join(t, &result));
    SHOW(pthread_setattr_default_np(&how));
    SHOW(in_thread(add_own, (void*)3) == result);
}

static void* stack_of(pthread_t t) {
    pthread_attr_t how;
    void* stack = NULL;
    size_t size = 0;
    if (pthread_getattr_np(t, &how) != 0) abort();
    pthread_attr_getstack(&how, &stack, &size);
    pthread_attr_destroy(&how);
    return stack;
}
static void* own_stack(void* argument) {
    void* const stack = stack_of(pthread_self());
    char here;
    pthread_barrier_wait(argument);
    return (char*)stack < &here ? stack : NULL;
}

// By another thread, perhaps before it has begun.
static void* describes_others(void* argument) {
    int good = 0;
    pthread_barrier_init(&s_all, NULL, 2);
    for (int k = 0; k != 50; ++k) {
        pthread_t t;
        void* own = NULL;
        pthread_create(&t, NULL, own_stack, &s_all);
        void* const seen = stack_of(t);
        pthread_barrier_wait(&s_all);
        pthread_join(t, &own);
        good += seen == own;
    }
    SHOW(good);
    return argument;
}

void described_early(void) { in_both(describes_others); }

static void* size_of_own_stack(void* argument) {
    pthread_attr_t how;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &how) != 0) abort();
    pthread_attr_getstacksize(&how, &size);
    pthread_attr_destroy(&how);
    *(size_t*)argument = size;
    return NULL;
}
static void* changes_the_default(void* argument) {
    for (size_t kib = 200; kib <= 1000; kib += 400) {
        pthread_attr_t how;
        size_t seen = 0;
        pthread_attr_init(&how);
        pthread_attr_setstacksize(&how, kib << 10);
        SHOW(pthread_setattr_default_np(&how));
        pthread_attr_destroy(&how);
        for (int k = 0; k != 2; ++k) {
            in_thread(size_of_own_stack, &seen);
            SHOW(seen == kib << 10);
        }
    }
    return argument;
}

// Each thread that is made after a change has what it says.
void default_attributes(void) {
    size_t seen = 0;
    in_thread(size_of_own_stack, &seen);
    in_both(changes_the_default);
}

// --- memory of threads that a fork has left behind -----------------------------------------------

enum { k_left = 8, k_generations = 6 };
static __thread char t_text[100] = "as new";

static int is_as_new(void) {
    int const is_new = strcmp(t_text, "as new") == 0 && pthread_getspecific(s_key) == NULL;
    strcpy(t_text, "not any more");
    pthread_setspecific(s_key, t_text);
    return is_new;
}
static void* is_there_for_a_while(void* is_new) {
    *(int*)is_new = is_as_new();
    free(malloc(100)); // memory is kept in a cache of the thread
    pthread_barrier_wait(&s_all);
    pthread_barrier_wait(&s_all);
    return NULL;
}

// How many threads of the child have memory of one that is not there, by their numbers.
static void begin_generation(pthread_t const* before, int generation) {
    pthread_t now[k_left];
    int is_new[k_left], used_again = 0, as_new = 0;
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 1 << 16);
    pthread_barrier_init(&s_all, NULL, k_left + 1);
    for (int k = 0; k != k_left; ++k)
        if (pthread_create(&now[k], &how, is_there_for_a_while, &is_new[k]) != 0) abort();
    pthread_barrier_wait(&s_all);
    for (int k = 0; k != k_left; ++k) {
        as_new += is_new[k];
        for (int b = 0; before != NULL && b != k_left; ++b) used_again += now[k] == before[b];
    }
    printf("as new: %d, used again: %d\n", as_new, used_again);
    fflush(stdout);
    pid_t const child = generation == k_generations ? -1 : fork();
    if (child == 0) {
        begin_generation(now, generation + 1);
        _exit(0);
    }
    if (child > 0) SHOW(end_of(child));
    pthread_barrier_wait(&s_all);
    for (int k = 0; k != k_left; ++k) pthread_join(now[k], NULL);
}

void memory_in_children(void) {
    pthread_key_create(&s_key, NULL);
    begin_generation(NULL, 0);
}

// --- floating point ------------------------------------------------------------------------------

// A third, rounded as the thread does it; the compiler is not to compute it.
static double third(void) {
    double volatile one = 1, three = 3;
    return one / three;
}

static double overflow(void) {
    double volatile much = 1e308;
    return much * 1e308;
}

static void* shows_floating_point(void* again) {
    SHOW(fegetround() == FE_TONEAREST);
    SHOW(fegetround() == FE_UPWARD);
    SHOW(third() > 0.33333333333333331);
    SHOW(fetestexcept(FE_OVERFLOW) != 0);
    SHOW(fegetexcept() == FE_DIVBYZERO);
    fesetround(FE_DOWNWARD); // also in what other threads run on
    feclearexcept(FE_ALL_EXCEPT);
    for (int k = 0; k != 3; ++k) sched_yield();
    usleep(1000);
    SHOW(fegetround() == FE_DOWNWARD);
    if (again != NULL) in_thread(shows_floating_point, NULL);
    SHOW(fegetround() == FE_DOWNWARD);
    return again;
}

static void* divides_by_nothing(void* result) {
    double volatile one = 1, nothing = 0;
    *(double*)result = one / nothing;
    return NULL;
}

// A thread begins with what its creator has, in each of these, and neither changes the other's.
void floating_point(void) {
    in_thread(shows_floating_point, "");
    SHOW(overflow() > 1e308);
    fesetround(FE_UPWARD);
    in_thread(shows_floating_point, "");
    SHOW(fegetround() == FE_UPWARD);
    SHOW(fetestexcept(FE_OVERFLOW) != 0);
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    feenableexcept(FE_DIVBYZERO);
    in_thread(shows_floating_point, "");
    fedisableexcept(FE_ALL_EXCEPT);
    double result = 0;
    for (int k = 0; k != 10; ++k) in_thread(divides_by_nothing, &result);
    SHOW(result > 1e300);
}

// --- forks beside threads on stacks of the program's own -----------------------------------------

enum { k_own_stack = 64 * 1024, k_makers = 2, k_forks = 1000 };
static atomic_bool s_makers_end;

static void* returns_at_once(void* unused) { return unused; }
static void make_one_on(void* stack) {
    pthread_attr_t how;
    pthread_t t;
    pthread_attr_init(&how);
    pthread_attr_setstack(&how, stack, k_own_stack);
    if (pthread_create(&t, &how, returns_at_once, NULL) != 0 || pthread_join(t, NULL) != 0) abort();
    pthread_attr_destroy(&how);
}
// There is no memory for such a stack, which soon shows.
static void* makes_none(void* unused) {
    size_t const k_too_large = (size_t)1 << 50;
    pthread_attr_t how;
    pthread_t t;
    pthread_attr_init(&how);
    if (pthread_attr_setstacksize(&how, k_too_large) != 0) abort();
    while (!s_makers_end)
        if (pthread_create(&t, &how, returns_at_once, NULL) != EAGAIN) abort();
    pthread_attr_destroy(&how);
    return unused;
}
// False: it stands still.
static bool ends_in_time(pid_t child) {
    enum { k_longest_ms = 20000 };
    for (int ms = 0; ms != k_longest_ms; ++ms)
        for (int k = 0; k != 10; ++k) {
            if (waitpid(child, NULL, WNOHANG) == child) return true;
            usleep(100);
        }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return false;
}
// All threads are the C library's: others are made while one forks, and the child makes one.
void forks_beside_own_stacks(void) {
    pthread_attr_t how;
    pthread_t makers[k_makers];
    char* const stacks = aligned_alloc(4096, (k_makers + 1) * k_own_stack);
    bool is_alive = true;
    for (int k = 0; k != k_makers; ++k) {
        pthread_attr_init(&how);
        pthread_attr_setstack(&how, stacks + k * k_own_stack, k_own_stack);
        pthread_create(&makers[k], &how, makes_none, NULL);
        pthread_attr_destroy(&how);
    }
    for (int k = 0; k != k_forks && is_alive; ++k) {
        pid_t const child = fork();
        if (child == 0) {
            make_one_on(stacks + k_makers * k_own_stack);
            _exit(0);
        }
        is_alive = ends_in_time(child);
        if (!is_alive) printf("child %d stands still\n", k);
    }
    s_makers_end = true;
    for (int k = 0; k != k_makers; ++k) SHOW(pthread_join(makers[k], NULL));
    SHOW(is_alive);
    free(stacks);
}

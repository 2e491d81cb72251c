// SPDX-License-Identifier: Apache-2.0
// Cases of child processes: of what a thread is told that waits for one, and of what a child may do
// about the threads of its parent.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// --- the signal of a child, and the wait for it --------------------------------------------------

static atomic_int s_handled;
static void handle(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}

static pid_t ends_soon(void) {
    pid_t const child = fork();
    if (child != 0) return child;
    usleep(3000);
    _exit(7);
}

enum way { by_number, of_any, by_identity };

static int wait_in(enum way how, pid_t child) {
    int status = 0;
    siginfo_t about;
    memset(&about, 0, sizeof about);
    switch (how) {
        case by_number: return waitpid(child, &status, 0) == child;
        case of_any: return wait(&status) == child;
        default: return waitid(P_PID, (id_t)child, &about, WEXITED) == 0 && about.si_pid == child;
    }
}

// The handler, which ends other waits, runs in this thread.
static void* waits_beside_handler(void* unused) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    for (int way = by_number; way <= by_identity; ++way) {
        int found = 0;
        for (int k = 0; k != 30; ++k) {
            pid_t const child = ends_soon();
            if (wait_in((enum way)way, child))
                ++found;
            else
                while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        }
        SHOW(found);
    }
    return unused;
}

void handlers_at_waits_for_children(void) {
    struct sigaction how;
    sigset_t one;
    memset(&how, 0, sizeof how);
    how.sa_handler = handle;
    sigaction(SIGCHLD, &how, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    in_thread(waits_beside_handler, NULL);
    SHOW(atomic_load(&s_handled) != 0);
}

// --- commands of threads and of main at the same time --------------------------------------------

static void* runs_command(void* text) { return (void*)(intptr_t)system((char*)text); }

static void show_actions(void) {
    struct sigaction now;
    SHOW(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    SHOW(sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    fflush(stdout);
    pid_t const child = fork(); // what the kernel knows
    if (child == 0) {
        raise(SIGINT);
        _exit(7);
    }
    SHOW(end_of(child) == -SIGINT);
}

static void run_both(char const* of_thread, char const* of_main) {
    pthread_t t;
    void* result = NULL;
    pthread_create(&t, NULL, runs_command, (void*)(intptr_t)of_thread);
    usleep(100000);
    int const status = system(of_main);
    pthread_join(t, &result);
    SHOW((intptr_t)result == 3 << 8);
    SHOW(status == 4 << 8);
    show_actions();
}

// They only ask whether there is a shell, at times within the other one.
static void* asks_for_shell(void* over) {
    int found = 0, asked = 0;
    for (; atomic_load((atomic_int*)over) == 0 || asked == 0; ++asked) found += system(NULL) != 0;
    SHOW(found == asked);
    return NULL;
}
static void run_beside_who_asks(void) {
    atomic_int over = 0;
    pthread_t t;
    pthread_create(&t, NULL, asks_for_shell, &over);
    for (int k = 0; k != 20; ++k)
        if (system("exit 3") != 3 << 8) abort();
    atomic_store(&over, 1);
    pthread_join(t, NULL);
    show_actions();
}

// Whoever ends last puts back what the signals did before.
void commands_at_once(void) {
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    run_both("sleep 0.2; exit 3", "sleep 0.4; exit 4");
    run_both("sleep 0.4; exit 3", "sleep 0.2; exit 4");
    run_beside_who_asks();
}

// --- threads of the parent -----------------------------------------------------------------------

static atomic_int s_is_over;

static void* goes_on(void* argument) {
    while (atomic_load(&s_is_over) == 0) usleep(1000);
    return argument;
}
static void* ends_at_once(void* argument) { return argument; }

enum { k_going_on = 4, k_ended = 2, k_all = k_going_on + k_ended };
static pthread_t s_threads[k_all];

// What the C library does about one of them in a child; about a second one it may crash, as it may
// have given the stack back.
static int deal_with(int which) {
    void* result = &s_is_over;
    struct timespec const past = {1, 0};
    int error = -1;
    pthread_t const t = s_threads[which];
    switch (which) {
        case 0: error = pthread_join(t, &result); break;
        case 1: error = pthread_tryjoin_np(t, &result); break;
        case 2: error = pthread_timedjoin_np(t, &result, &past); break;
        case 3: error = pthread_detach(t); break;
        default: error = pthread_cancel(t) != 0 ? -1 : pthread_join(t, &result); break;
    }
    if (error != 0) return 100 + error;
    if (which == 0 && pthread_join(t, &result) != ESRCH) return 99;
    return result == &s_is_over ? 50 : (int)(intptr_t)result;
}

static void* forks_and_joins(void* argument) {
    for (int k = 0; k != k_all; ++k) {
        fflush(stdout);
        pid_t const child = fork();
        if (child == 0) _exit(deal_with(k));
        SHOW(end_of(child));
    }
    return argument;
}

void joins_in_children(void) {
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 1 << 18);
    for (int k = 0; k != k_all; ++k)
        pthread_create(&s_threads[k], &how, k < k_going_on ? goes_on : ends_at_once,
                       (void*)(intptr_t)(k + 1));
    usleep(50000); // the last ones have ended, most times
    in_both(forks_and_joins);
    atomic_store(&s_is_over, 1);
    for (int k = 0; k != k_all; ++k) {
        void* result = NULL;
        SHOW(pthread_join(s_threads[k], &result));
        SHOW((intptr_t)result);
    }
}

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

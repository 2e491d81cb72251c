// SPDX-License-Identifier: Apache-2.0
// What qemu's emulator of single processes does not do, or takes long for, in a program that knows
// nothing of Tulle (docs/compat/pthread.md, "Under an emulator"):
//     aarch64-linux-gnu-gcc -O1 tests/emulated/limits_of_qemu.c -o limits -pthread
//     qemu-aarch64 -L /usr/aarch64-linux-gnu ./limits
// Without the emulator each child ends with 3, and no time is worth mentioning.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void* ends(void* unused) { return unused; }
static void* sleeps(void* unused) {
    for (;;) pause();
    return unused;
}
static void* makes_threads(void* unused) {
    for (pthread_t t;;) {
        pthread_create(&t, NULL, &ends, NULL);
        pthread_join(t, NULL);
    }
    return unused;
}

// The exit code of a child that makes a thread; negative: what has ended it, after 5 s at most.
static int child_with_a_thread(void) {
    pid_t const child = fork();
    if (child == 0) {
        pthread_t t;
        pthread_create(&t, NULL, &ends, NULL);
        pthread_join(t, NULL);
        _exit(3);
    }
    int status = 0;
    for (int ms = 0; waitpid(child, &status, WNOHANG) == 0; ++ms) {
        if (ms == 5000) kill(child, SIGKILL);
        usleep(1000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void fork_beside(char const* what, void* (*other)(void*)) {
    pthread_t t;
    pthread_create(&t, NULL, other, NULL);
    usleep(10000);
    printf("children beside a thread that %s:", what);
    fflush(stdout);
    for (int k = 0; k != 5; ++k) printf(" %d", child_with_a_thread());
    puts("");
    fflush(stdout);
}

static double time_of_a_fork(void) {
    double const begin = seconds();
    pid_t const child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return (seconds() - begin) * 1e3;
}

int main(void) {
    struct {
        void* next;
        long offset;
        void* pending;
    } list = {&list, 0, NULL};
    long const error = syscall(SYS_set_robust_list, &list, sizeof list);
    printf("set_robust_list: %s\n", error == 0 ? "done" : strerror(errno));
    printf("fork: %.1f ms\n", time_of_a_fork());
    double const begin = seconds();
    for (int k = 0; k != 2; ++k)
        mmap(NULL, 1UL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
    printf("2 mappings of 1 GiB: %.1f ms\n", (seconds() - begin) * 1e3);
    printf("fork: %.1f ms, then %.1f ms\n", time_of_a_fork(), time_of_a_fork());
    fflush(stdout);
    fork_beside("sleeps", &sleeps);
    fork_beside("makes threads", &makes_threads);
    return 0;
}

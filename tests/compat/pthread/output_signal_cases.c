// SPDX-License-Identifier: Apache-2.0
// What the kernel sends to a thread that writes in vain (SIGPIPE, SIGXFSZ) is that thread's,
// whatever others want.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static sigset_t only_pipe(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}
static int is_pending(void) {
    sigset_t now;
    sigpending(&now);
    return sigismember(&now, SIGPIPE);
}
static void* writes_blocked(void* unused) {
    sigset_t const set = only_pipe();
    struct timespec const at_once = {0, 0};
    siginfo_t about;
    int ends[2];
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pipe(ends) != 0) abort();
    close(ends[0]);
    SHOW_CALL(write(ends[1], "b", 1));
    SHOW(is_pending());
    SHOW(sigtimedwait(&set, &about, &at_once) == SIGPIPE);
    SHOW(about.si_code == SI_USER && about.si_pid == getpid());
    SHOW(is_pending());
    close(ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    close(ends[1]);
    SHOW_CALL(send(ends[0], "b", 1, MSG_NOSIGNAL));
    SHOW(is_pending());
    SHOW_CALL(send(ends[0], "b", 1, 0));
    SHOW(is_pending());
    SHOW(sigtimedwait(&set, NULL, &at_once) == SIGPIPE);
    close(ends[0]);
    return unused;
}
static __thread int t_handled;
static void count_own(int signal) {
    (void)signal;
    ++t_handled;
}
static void* writes_with_handler(void* unused) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    close(ends[0]);
    for (int k = 0; k != 3; ++k) {
        SHOW_CALL(write(ends[1], "h", 1));
        SHOW(t_handled);
    }
    close(ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    close(ends[1]);
    SHOW_CALL(send(ends[0], "h", 1, 0));
    SHOW(t_handled);
    close(ends[0]);
    return unused;
}
// What stays is written, and the rest refused.
static void* writes_too_much(void* unused) {
    char path[] = "/tmp/pthread-cases-XXXXXX";
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct rlimit const most = {2, 2};
    int const file = mkstemp(path);
    unlink(path);
    if (setrlimit(RLIMIT_FSIZE, &most) != 0) abort();
    SHOW_CALL(write(file, "xyz", 3));
    SHOW_CALL(write(file, "z", 1));
    sigpending(&now);
    SHOW(sigismember(&now, SIGXFSZ));
    close(file);
    return unused;
}
static void* writes_openly(void* unused) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    close(ends[0]);
    SHOW_CALL(write(ends[1], "o", 1)); // ends the process
    return unused;
}
static void show_child(void* (*last)(void*)) {
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        in_thread(&writes_blocked, NULL);
        in_thread(last, NULL);
        _exit(0);
    }
    SHOW(end_of(child));
}
void signals_of_broken_pipes(void) {
    struct sigaction const action = {.sa_handler = &count_own};
    show_child(&writes_too_much);
    show_child(&writes_openly);
    in_thread(&writes_blocked, NULL); // main would be ended
    sigaction(SIGPIPE, &action, NULL);
    in_thread(&writes_blocked, NULL);
    in_thread(&writes_with_handler, NULL);
    SHOW(t_handled);
}

// SPDX-License-Identifier: Apache-2.0
// Cases of what POSIX has the functions of <signal.h> return: in a thread, and in main.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static atomic_int s_handled;
static void handle(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}

static sigset_t set_of(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void* makes_sets(void* argument) {
    sigset_t set;
    SHOW(sigfillset(&set));
    SHOW(sigismember(&set, SIGUSR1));
    SHOW(sigdelset(&set, SIGUSR1));
    SHOW(sigismember(&set, SIGUSR1));
    SHOW(sigaddset(&set, 1000) == -1 && errno == EINVAL);
    SHOW(sigdelset(&set, 0) == -1 && errno == EINVAL);
    SHOW(sigismember(&set, -1) == -1 && errno == EINVAL);
    return argument;
}

static void* is_refused(void* argument) {
    struct sigaction action;
    sigset_t set = set_of(SIGUSR1), before;
    union sigval value;
    value.sival_int = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    SHOW(pthread_sigmask(77, &set, NULL) == EINVAL);
    SHOW(pthread_sigmask(77, NULL, &before));
    SHOW(sigprocmask(77, &set, NULL) == -1 && errno == EINVAL);
    SHOW(pthread_kill(pthread_self(), 0));
    SHOW(pthread_kill(pthread_self(), -1) == EINVAL);
    SHOW(pthread_kill(pthread_self(), 1000) == EINVAL);
    SHOW(raise(1000) == -1 && errno == EINVAL);
    SHOW(kill(getpid(), 1000) == -1 && errno == EINVAL);
    SHOW(kill(getpid(), 0));
    SHOW(sigqueue(getpid(), 1000, value) == -1 && errno == EINVAL);
    SHOW(sigqueue(getpid(), 0, value));
    SHOW(killpg(0x7ffffff0, 0) == -1 && errno == ESRCH);
    SHOW(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    SHOW(sigaction(SIGSTOP, &action, NULL) == -1 && errno == EINVAL);
    SHOW(sigaction(0, &action, NULL) == -1 && errno == EINVAL);
    SHOW(sigaction(1000, NULL, &action) == -1 && errno == EINVAL);
    SHOW(sigaction(SIGKILL, NULL, &action));
    SHOW(signal(SIGKILL, handle) == SIG_ERR && errno == EINVAL);
    SHOW(signal(1000, handle) == SIG_ERR && errno == EINVAL);
    SHOW(siginterrupt(1000, 1) == -1 && errno == EINVAL);
    SHOW(sigset(SIGKILL, handle) == SIG_ERR && errno == EINVAL);
    SHOW(sighold(1000) == -1 && errno == EINVAL);
    SHOW(sigrelse(1000) == -1 && errno == EINVAL);
    SHOW(sigignore(1000) == -1 && errno == EINVAL);
    SHOW(sigpause(1000) == -1 && errno == EINVAL);
    // What cannot be blocked is not, and nobody is told.
    sigfillset(&set);
    SHOW(pthread_sigmask(SIG_SETMASK, &set, &before));
    SHOW(pthread_sigmask(SIG_SETMASK, &before, &set));
    SHOW(sigismember(&set, SIGKILL));
    SHOW(sigismember(&set, SIGSTOP));
    SHOW(sigismember(&set, SIGTERM));
    return argument;
}

// --- waits for signals ---------------------------------------------------------------------------

static void* waits_with_time(void* argument) {
    sigset_t set = set_of(SIGUSR2), before;
    siginfo_t about;
    int number = 0;
    struct timespec const soon = {0, 20000000}, wrong = {0, 1000000000}, now = {0, 0};
    pthread_sigmask(SIG_BLOCK, &set, &before);
    SHOW(sigtimedwait(&set, &about, &soon) == -1 && errno == EAGAIN);
    SHOW(sigtimedwait(&set, &about, &now) == -1 && errno == EAGAIN);
    SHOW(sigtimedwait(&set, &about, &wrong) == -1 && errno == EINVAL);
    SHOW(pthread_kill(pthread_self(), SIGUSR2));
    memset(&about, 0, sizeof about);
    SHOW(sigtimedwait(&set, &about, &now) == SIGUSR2);
    SHOW(about.si_signo == SIGUSR2);
    SHOW(pthread_kill(pthread_self(), SIGUSR2));
    SHOW(sigwaitinfo(&set, NULL) == SIGUSR2);
    SHOW(raise(SIGUSR2));
    SHOW(sigwait(&set, &number));
    SHOW(number == SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return argument;
}

// By a signal that it does not wait for, for which there is a handler.
static atomic_int s_is_over;
static void* is_interrupted(void* way) {
    sigset_t set = set_of(SIGUSR2);
    struct timespec const late = {20, 0};
    siginfo_t about;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (way != NULL)
        SHOW(sigwaitinfo(&set, &about) == -1 && errno == EINTR);
    else
        SHOW(sigtimedwait(&set, &about, &late) == -1 && errno == EINTR);
    atomic_store(&s_is_over, 1);
    return way;
}

// A signal that comes before the wait does not end it, so it is sent until one does.
static void interrupt_waits(void) {
    for (int way = 0; way != 2; ++way) {
        pthread_t t;
        atomic_store(&s_is_over, 0);
        atomic_store(&s_handled, 0);
        pthread_create(&t, NULL, is_interrupted, way != 0 ? &t : NULL);
        while (atomic_load(&s_is_over) == 0) {
            pthread_kill(t, SIGUSR1);
            usleep(1000);
        }
        pthread_join(t, NULL);
        SHOW(atomic_load(&s_handled) != 0);
    }
}

void rules_of_signals(void) {
    in_both(makes_sets);
    in_both(is_refused);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    in_both(waits_with_time);
    interrupt_waits();
}

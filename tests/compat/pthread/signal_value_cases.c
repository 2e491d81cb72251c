// SPDX-License-Identifier: Apache-2.0
// Cases of what threads are told of signals: who has sent them, and the values of sigqueue, none of
// which is lost (POSIX, 2.4.1).
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static sem_t s_begun, s_go, s_seen;

static union sigval value_of(int number) {
    union sigval value;
    memset(&value, 0, sizeof value);
    value.sival_int = number;
    return value;
}

static sigset_t set_of(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static void block(int number) {
    sigset_t const set = set_of(number);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) abort();
}

static void show(siginfo_t const* about) {
    printf("code %d value %d by us %d\n", about->si_code, about->si_value.sival_int,
           about->si_pid == getpid());
}

// Until there is none.
static void show_all(int number) {
    sigset_t const set = set_of(number);
    siginfo_t about;
    while (sigtimedwait(&set, &about, &(struct timespec){0, 0}) == number) show(&about);
    SHOW(errno == EAGAIN);
}

static void await(sem_t* s) {
    while (sem_wait(s) != 0 && errno == EINTR) {}
}

// --- for a thread --------------------------------------------------------------------------------

static void* takes_queued(void* argument) {
    int const number = (int)(intptr_t)argument;
    block(number);
    sem_post(&s_begun);
    await(&s_go);
    show_all(number);
    return NULL;
}

static void queue_for_a_thread(int number) {
    pthread_t t;
    if (pthread_create(&t, NULL, takes_queued, (void*)(intptr_t)number) != 0) abort();
    await(&s_begun);
    for (int k = 0; k < 5; ++k) SHOW(pthread_sigqueue(t, number, value_of(10 + k)));
    sem_post(&s_go);
    pthread_join(t, NULL);
}

// --- for the process -----------------------------------------------------------------------------

static atomic_int s_count, s_sum, s_others;

static void add(int number, siginfo_t* about, void* context) {
    (void)number;
    (void)context;
    if (about->si_code != SI_QUEUE || about->si_pid != getpid()) atomic_fetch_add(&s_others, 1);
    atomic_fetch_add(&s_sum, about->si_value.sival_int);
    atomic_fetch_add(&s_count, 1);
}

static void handle(int number, void (*with)(int, siginfo_t*, void*), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = with;
    action.sa_flags = SA_SIGINFO | flags;
    if (sigaction(number, &action, NULL) != 0) abort();
}

// The only one that does not block it.
static void* receives(void* argument) {
    int const number = (int)(intptr_t)argument;
    sigset_t const set = set_of(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_post(&s_begun);
    while (atomic_load(&s_count) < 20) {
        struct timespec const until = in_ms_of(CLOCK_REALTIME, 100);
        sem_timedwait(&s_go, &until);
    }
    return NULL;
}

static void queue_for_the_process(int number) {
    pthread_t t;
    block(number);
    handle(number, add, 0);
    if (pthread_create(&t, NULL, receives, (void*)(intptr_t)number) != 0) abort();
    await(&s_begun);
    for (int k = 0; k < 20; ++k)
        if (sigqueue(getpid(), number, value_of(k)) != 0) abort();
    pthread_join(t, NULL);
    SHOW(s_count);
    SHOW(s_sum);
    SHOW(s_others);
}

void values_of_signals(void) {
    sem_init(&s_begun, 0, 0);
    sem_init(&s_go, 0, 0);
    queue_for_a_thread(SIGRTMIN + 1);
    queue_for_a_thread(SIGUSR1); // is not queued: the first one stays
    queue_for_the_process(SIGRTMIN + 2);
}

// --- who has sent it -----------------------------------------------------------------------------

static siginfo_t s_about;

static void note(int number, siginfo_t* about, void* context) {
    (void)number;
    (void)context;
    s_about = *about;
    sem_post(&s_seen);
}

static void* waits_for_go(void* argument) {
    sigset_t const set = set_of(SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_post(&s_begun);
    await(&s_go);
    return argument;
}

void senders_of_signals(void) {
    pthread_t t;
    sem_init(&s_begun, 0, 0);
    sem_init(&s_go, 0, 0);
    sem_init(&s_seen, 0, 0);
    block(SIGUSR1);
    handle(SIGUSR1, note, SA_NODEFER); // so that there is always one that does not block it
    if (pthread_create(&t, NULL, waits_for_go, NULL) != 0) abort();
    await(&s_begun);
    SHOW(pthread_kill(t, SIGUSR1));
    await(&s_seen);
    show(&s_about);
    SHOW(pthread_sigqueue(t, SIGUSR1, value_of(7)));
    await(&s_seen);
    show(&s_about);
    pid_t const child = fork();
    if (child == 0) _exit(kill(getppid(), SIGUSR1) == 0 ? 0 : 1);
    await(&s_seen);
    SHOW(s_about.si_code == SI_USER && s_about.si_pid == child);
    SHOW(end_of(child));
    sem_post(&s_go);
    pthread_join(t, NULL);
}

// --- many ----------------------------------------------------------------------------------------

// As many come out as went in, whatever the limit is.
static void* takes_all(void* argument) {
    int const number = SIGRTMIN + 3;
    sigset_t const set = set_of(number);
    int taken = 0;
    siginfo_t about;
    block(number);
    sem_post(&s_begun);
    await(&s_go);
    while (sigtimedwait(&set, &about, &(struct timespec){0, 0}) == number)
        if (about.si_value.sival_int == taken) ++taken;
    *(int*)argument = taken;
    return NULL;
}

void queue_of_signals_is_full(void) {
    pthread_t t;
    int sent = 0, taken = 0, error = 0;
    struct rlimit limit = {20, 20};
    sem_init(&s_begun, 0, 0);
    sem_init(&s_go, 0, 0);
    getrlimit(RLIMIT_SIGPENDING, &limit);
    if (limit.rlim_cur > 5000) limit.rlim_cur = 5000;
    setrlimit(RLIMIT_SIGPENDING, &limit);
    if (pthread_create(&t, NULL, takes_all, &taken) != 0) abort();
    await(&s_begun);
    while (sent < 10000 && (error = pthread_sigqueue(t, SIGRTMIN + 3, value_of(sent))) == 0) ++sent;
    SHOW(error == EAGAIN);
    SHOW(sent >= 20);
    sem_post(&s_go);
    pthread_join(t, NULL);
    SHOW(taken == sent);
}

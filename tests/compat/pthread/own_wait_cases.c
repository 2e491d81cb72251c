// SPDX-License-Identifier: Apache-2.0
// Cases of signals that a process sends to itself while somebody waits or is in a handler.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static pthread_t s_main, s_receiver;
static atomic_int s_handled, s_ready, s_goes_on, s_alarms;
static int s_pipe[2];
static sigset_t s_only_other; // blocks SIGUSR2
static sem_t s_posted;

static void count_one(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}

static sigset_t set_of(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    return set;
}

static void handle_by(void (*handler)(int), int number, int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (sigaction(number, &action, NULL) != 0) abort();
}

static int suspends(void) { return sigsuspend(&s_only_other); }
static int polls(void) {
    struct pollfd asked = {s_pipe[0], POLLIN, 0};
    return ppoll(&asked, 1, NULL, &s_only_other);
}
static int selects(void) {
    fd_set in;
    FD_ZERO(&in);
    FD_SET(s_pipe[0], &in);
    return pselect(s_pipe[0] + 1, &in, NULL, NULL, NULL, &s_only_other);
}

// --- main waits with another mask ----------------------------------------------------------------

static atomic_int s_by_main, s_kept;

static void note_receiver(int number) {
    (void)number;
    if (pthread_equal(pthread_self(), s_main)) atomic_store(&s_by_main, 1);
}
// Which of the two gets it while main blocks it is open.
static void* sends_until_main_has_it(void* number) {
    for (int k = 0; k != 10000 && atomic_load(&s_by_main) == 0; usleep(500), ++k)
        kill(getpid(), *(int*)number);
    atomic_fetch_add(&s_kept, atomic_load(&s_by_main));
    while (atomic_load(&s_by_main) == 0) {
        pthread_kill(s_main, *(int*)number);
        usleep(500);
    }
    return number;
}

// A handler that interrupts the wait has its mask, too.
static void wait_for_own(int number) {
    (void)number;
    static int s_own = SIGUSR1;
    if (atomic_exchange(&s_alarms, 1) != 0) return;
    atomic_store(&s_by_main, 0);
    in_thread(sends_until_main_has_it, &s_own);
}

static void send_to_waiting_main(int (*wait)(void), int number) {
    pthread_t sender;
    atomic_store(&s_by_main, 0);
    pthread_create(&sender, NULL, sends_until_main_has_it, &number);
    int const result = wait();
    pthread_join(sender, NULL);
    if (result != -1) printf("%d\n", result);
}

static void* sends_alarm(void* unused) {
    while (atomic_load(&s_alarms) == 0) {
        pthread_kill(s_main, SIGALRM);
        usleep(500);
    }
    return unused;
}
static void send_during_handler_in_wait(int (*wait)(void)) {
    pthread_t sender;
    atomic_store(&s_alarms, 0);
    pthread_create(&sender, NULL, sends_alarm, NULL);
    int const result = wait();
    pthread_join(sender, NULL);
    if (result != -1) printf("%d\n", result);
}

static int polls_set_of_none(void) {
    struct epoll_event event;
    int const all = epoll_create1(0);
    int const result = epoll_pwait(all, &event, 1, -1, &s_only_other);
    close(all);
    return result;
}
static void* lives(void* unused) {
    while (atomic_load(&s_goes_on) != 0) usleep(1000);
    return unused;
}

void kills_at_waits_of_main(void) {
    static int (*const k_waits[])(void) = {suspends, polls, selects, polls_set_of_none};
    pthread_t other;
    s_main = pthread_self();
    handle_by(note_receiver, SIGUSR1, 0);
    if (pipe(s_pipe) != 0) abort();
    sigset_t const of_other = set_of(SIGUSR2, SIGUSR2), set = set_of(SIGUSR1, SIGALRM);
    s_only_other = of_other;
    atomic_store(&s_goes_on, 1);
    pthread_create(&other, NULL, lives, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL); // main does, its threads do not
    for (int k = 0; k != 4; ++k) send_to_waiting_main(k_waits[k], SIGUSR1);
    handle_by(wait_for_own, SIGALRM, 0);
    for (int k = 0; k != 4; ++k) send_during_handler_in_wait(k_waits[k]);
    printf("by main: %d\n", atomic_load(&s_kept));
    atomic_store(&s_goes_on, 0);
    pthread_join(other, NULL);
}

// --- what pends while a handler runs -------------------------------------------------------------

static jmp_buf s_plain_target;
static sem_t s_other_has_run;
static atomic_int s_others;

static void post_other(int number) {
    (void)number;
    atomic_fetch_add(&s_others, 1);
    sem_post(&s_other_has_run);
}
static int other_has_run(void) {
    struct timespec const until = in_ms_of(CLOCK_REALTIME, 5000);
    for (;;) {
        if (sem_timedwait(&s_other_has_run, &until) == 0) return 1;
        if (errno != EINTR) return 0;
    }
}
static void jump_plainly(int number) {
    (void)number;
    longjmp(s_plain_target, 1);
}
static void wait_for_other(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, other_has_run());
}

// Until no OS thread has them in its hands.
static void send_two(void) {
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    for (int seen = 0; seen < 8; usleep(2000)) {
        sigset_t now;
        sigpending(&now);
        seen = sigismember(&now, SIGUSR1) && sigismember(&now, SIGUSR2) ? seen + 1 : 0;
    }
}

static void* has_two_at_once(void* unused) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    sem_init(&s_other_has_run, 0, 0);
    handle_by(post_other, SIGUSR2, 0);
    handle_by(jump_plainly, SIGUSR1, 0);
    send_two();
    if (_setjmp(s_plain_target) == 0) pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    SHOW(other_has_run());
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    handle_by(wait_for_other, SIGUSR1, 0);
    send_two();
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    SHOW(atomic_load(&s_handled));
    SHOW(atomic_load(&s_others));
    return unused;
}

void kills_of_two_at_once(void) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    in_thread(has_two_at_once, NULL);
}

// --- signals of the kernel, sent to a thread by a handler ----------------------------------------

static int s_passed_on;

static void pass_on_other(int number) {
    (void)number;
    pthread_kill(s_receiver, s_passed_on);
}
static void* waits_for_goes_on(void* unused) {
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_handled) == 0 && sem_wait(&s_posted) != 0) {}
    return unused;
}

void kernels_signals_by_handlers(void) {
    static int const k_of_kernel[] = {SIGPROF, SIGABRT, SIGSEGV, SIGSYS};
    int handled = 0;
    sem_init(&s_posted, 0, 0);
    handle_by(pass_on_other, SIGALRM, 0);
    for (int k = 0; k != 12; ++k) {
        s_passed_on = k_of_kernel[k % 4];
        handle_by(count_one, s_passed_on, 0);
        atomic_store(&s_handled, 0);
        atomic_store(&s_ready, 0);
        pthread_create(&s_receiver, NULL, waits_for_goes_on, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        usleep(5000);
        raise(SIGALRM);
        for (int n = 0; n != 3000 && atomic_load(&s_handled) == 0; ++n) usleep(1000);
        handled += atomic_load(&s_handled);
        sem_post(&s_posted);
        pthread_join(s_receiver, NULL);
        while (sem_trywait(&s_posted) == 0) {}
    }
    printf("handled: %d\n", handled);
}

// SPDX-License-Identifier: Apache-2.0
// Cases of signals: handlers end waits, masks hold, one thread gets what is for it or for the
// process.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_t s_target;
static atomic_int s_handled, s_strayed, s_ready, s_is_over;

// It runs on the thread that it is for.
static void handle(int number) {
    if (!pthread_equal(pthread_self(), s_target) || number != SIGUSR1)
        atomic_fetch_add(&s_strayed, 1);
    atomic_fetch_add(&s_handled, 1);
}

static void show_handled(void) {
    SHOW(atomic_load(&s_handled));
    SHOW(atomic_load(&s_strayed));
}

static void handle_by(void (*handler)(int), int number, int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

static void block(int number, int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    SHOW(pthread_sigmask(how, &set, NULL));
}

// 0: it waits, or will soon.
static void let_it_wait(void) {
    while (atomic_load(&s_ready) == 0) sched_yield();
    usleep(100000); // nothing tells when it has begun to
}

struct a_wait {
    void* (*wait)(void*);
    void* argument;
};
static void* make_wait(void* of) {
    struct a_wait const* const w = of;
    void* const result = w->wait(w->argument);
    atomic_store(&s_is_over, 1);
    return result;
}

// A signal that comes before the wait does not end it.
static void send_until_over(void) {
    for (; atomic_load(&s_is_over) == 0; usleep(1000)) pthread_kill(s_target, SIGUSR1);
}

// Begins a wait in a thread and sends it a signal. Without `let_go` that is to end it; otherwise
// the wait is let go.
static void* interrupt(void* (*wait)(void*), void* argument, void (*let_go)(void*)) {
    struct a_wait a_wait = {wait, argument};
    atomic_store(&s_ready, 0);
    atomic_store(&s_is_over, 0);
    pthread_create(&s_target, NULL, make_wait, &a_wait);
    let_it_wait();
    int const error = pthread_kill(s_target, SIGUSR1);
    usleep(30000); // time for a mistake
    let_go != NULL ? let_go(argument) : send_until_over();
    void* result = NULL;
    pthread_join(s_target, &result);
    SHOW(error);
    return result;
}

static void* sleeps(void* argument) {
    struct timespec const time = {20, 0};
    struct timespec rest = {0, 0};
    atomic_store(&s_ready, 1);
    SHOW(nanosleep(&time, &rest));
    SHOW(errno == EINTR);
    SHOW(rest.tv_sec > 15 && rest.tv_sec < 20);
    return argument;
}

static void* reads(void* number) {
    char byte = 0;
    atomic_store(&s_ready, 1);
    ssize_t const result = read(*(int*)number, &byte, 1);
    SHOW(result);
    SHOW(result < 0 ? errno == EINTR : byte == 'x');
    return number;
}
static void write_byte(void* number) {
    if (write(((int*)number)[1], "x", 1) != 1) abort();
}

static void* takes(void* s) {
    atomic_store(&s_ready, 1);
    int const result = sem_wait(s);
    SHOW(result);
    SHOW(result == 0 || errno == EINTR);
    return s;
}
static void up(void* s) { sem_post(s); }

static void* polls_long(void* number) {
    struct pollfd asked = {*(int*)number, POLLIN, 0};
    atomic_store(&s_ready, 1);
    SHOW(poll(&asked, 1, 20000));
    SHOW(errno == EINTR);
    return number;
}

static void* waits_for_signal(void* argument) {
    atomic_store(&s_ready, 1);
    SHOW(pause());
    SHOW(errno == EINTR);
    return argument;
}

void interruptions(void) {
    int pipes[2];
    sem_t s;
    if (pipe(pipes) != 0) abort();
    sem_init(&s, 0, 0);
    for (int restarts = 0; restarts != 2; ++restarts) {
        handle_by(handle, SIGUSR1, restarts ? SA_RESTART : 0);
        interrupt(sleeps, NULL, NULL);
        interrupt(polls_long, pipes, NULL);
        interrupt(waits_for_signal, NULL, NULL);
        interrupt(reads, pipes, restarts ? write_byte : NULL);
        interrupt(takes, &s, restarts ? up : NULL);
    }
    SHOW(atomic_load(&s_handled) >= 10);
    SHOW(atomic_load(&s_strayed));
}

// A lock is waited for on, and a condition; the handler has run when they are there.
static pthread_mutex_t s_signal_lock = PTHREAD_MUTEX_INITIALIZER;
static void* locks(void* argument) {
    atomic_store(&s_ready, 1);
    SHOW(pthread_mutex_lock(&s_signal_lock));
    usleep(1000);
    SHOW(atomic_load(&s_handled));
    SHOW(pthread_mutex_unlock(&s_signal_lock));
    return argument;
}
static void unlock_signal_lock(void* argument) {
    (void)argument;
    pthread_mutex_unlock(&s_signal_lock);
}

void signals_at_locks(void) {
    handle_by(handle, SIGUSR1, 0);
    pthread_mutex_lock(&s_signal_lock);
    interrupt(locks, NULL, unlock_signal_lock);
}

static void* masked(void* argument) {
    sigset_t pending;
    s_target = pthread_self();
    block(SIGUSR1, SIG_BLOCK);
    SHOW(pthread_kill(pthread_self(), SIGUSR1));
    SHOW(raise(SIGUSR1));
    SHOW(atomic_load(&s_handled));
    SHOW(sigpending(&pending));
    SHOW(sigismember(&pending, SIGUSR1));
    block(SIGUSR1, SIG_UNBLOCK);
    SHOW(atomic_load(&s_handled));
    SHOW(raise(SIGUSR1));
    SHOW(atomic_load(&s_handled));
    block(SIGUSR1, SIG_BLOCK);
    SHOW(raise(SIGUSR1));
    sigset_t none;
    sigemptyset(&none);
    SHOW(sigsuspend(&none));
    SHOW(atomic_load(&s_handled));
    SHOW(pthread_kill(pthread_self(), 1000) == EINVAL);
    handle_by(handle, SIGUSR1, (int)SA_RESETHAND);
    block(SIGUSR1, SIG_UNBLOCK);
    SHOW(raise(SIGUSR1));
    struct sigaction now;
    SHOW(sigaction(SIGUSR1, NULL, &now));
    SHOW(now.sa_handler == SIG_DFL);
    show_handled();
    return argument;
}

void masks(void) {
    handle_by(handle, SIGUSR1, 0);
    in_thread(masked, NULL);
}

// The way of servers: all block the signal, and one thread waits for it.
static void* takes_signal(void* set) {
    int number = 0;
    atomic_store(&s_ready, 1);
    SHOW(sigwait(set, &number));
    return (void*)(intptr_t)number;
}

static void* sends_to_process(void* argument) {
    usleep(30000);
    kill(getpid(), SIGUSR2);
    return argument;
}

void awaited(void) {
    in_thread(add_own, (void*)1); // the workers are there before the mask is set
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t t;
    void* result = NULL;
    for (int way = 0; way != 3; ++way) {
        int error = 0;
        atomic_store(&s_ready, 0);
        pthread_create(&t, NULL, takes_signal, &set);
        if (way != 0) let_it_wait();
        if (way == 2)
            in_thread(sends_to_process, NULL);
        else
            error = pthread_kill(t, SIGUSR2);
        pthread_join(t, &result);
        SHOW(error);
        SHOW((intptr_t)result == SIGUSR2);
    }
    atomic_store(&s_ready, 0);
    pthread_create(&t, NULL, takes_signal, &set);
    let_it_wait();
    int const error = pthread_cancel(t);
    pthread_join(t, &result);
    SHOW(error);
    SHOW(result == PTHREAD_CANCELED);
    struct timespec const soon = {0, 20000000};
    SHOW(sigtimedwait(&set, NULL, &soon));
    SHOW(errno == EAGAIN);
}

// Main blocks it, one thread does not: that one gets what comes for the process.
static void* wants_it(void* argument) {
    s_target = pthread_self();
    block(SIGUSR1, SIG_UNBLOCK);
    while (atomic_load(&s_handled) == 0) usleep(1000);
    return argument;
}

void for_one_thread(void) {
    handle_by(handle, SIGUSR1, SA_RESTART);
    block(SIGUSR1, SIG_BLOCK);
    pthread_t t;
    pthread_create(&t, NULL, wants_it, NULL);
    usleep(30000);
    kill(getpid(), SIGUSR1);
    pthread_join(t, NULL);
    show_handled();
}

static void* computes(void* argument) {
    s_target = pthread_self();
    block(SIGUSR1, SIG_UNBLOCK);
    while (atomic_load(&s_handled) == 0) {}
    return argument;
}

void at_computing(void) {
    handle_by(handle, SIGUSR1, 0);
    block(SIGUSR1, SIG_BLOCK);
    pthread_t t;
    pthread_create(&t, NULL, computes, NULL);
    usleep(30000);
    for (int k = 0; k != 100; ++k) kill(getpid(), SIGUSR1);
    pthread_join(t, NULL);
    SHOW(atomic_load(&s_handled) > 0);
    SHOW(atomic_load(&s_strayed));
}

// What the standard action is for the process.
static void* sends_standard(void* argument) {
    pthread_t t;
    pthread_create(&t, NULL, waits_for_signal, NULL);
    let_it_wait();
    pthread_kill(t, SIGUSR1);
    sleep(10);
    return argument;
}

void standard_action(void) {
    fflush(stdout);
    for (int way = 0; way != 2; ++way) {
        pid_t const child = fork();
        if (child == 0) {
            in_thread(add_own, (void*)1);
            block(SIGUSR1, SIG_BLOCK);
            block(SIGUSR1, SIG_UNBLOCK);
            if (way == 0) kill(getpid(), SIGUSR1);
            in_thread(sends_standard, NULL);
            _exit(1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        SHOW(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    }
}

// A child process, and what it runs, begin with the thread's mask and can be ended.
static void* makes_children(void* argument) {
    block(SIGUSR1, SIG_BLOCK);
    fflush(stdout);
    SHOW(system("kill -USR2 $$; exit 3") == SIGUSR2);
    pid_t const child = fork();
    if (child == 0) {
        sigset_t now;
        sigprocmask(SIG_BLOCK, NULL, &now);
        _exit(sigismember(&now, SIGUSR1) + 2 * sigismember(&now, SIGUSR2));
    }
    int status = 0;
    waitpid(child, &status, 0);
    SHOW(WEXITSTATUS(status));
    return argument;
}

void signals_of_children(void) {
    handle_by(handle, SIGUSR2, 0);
    in_thread(makes_children, NULL);
}

// A signal for the process that all block stays with it until somebody wants it, whoever that is.
static void await_pending(int number) {
    sigset_t pending;
    do {
        sched_yield();
        sigpending(&pending);
    } while (sigismember(&pending, number) == 0);
}

static void* unblocks(void* argument) {
    block(SIGUSR1, SIG_UNBLOCK);
    while (atomic_load(&s_handled) == 0) usleep(1000);
    return argument;
}

static void* computes_for_it(void* argument) {
    block(SIGUSR1, SIG_UNBLOCK);
    while (atomic_load(&s_handled) == 0) {}
    return argument;
}

static void* awaits_it(void* set) {
    int number = 0;
    SHOW(sigwait(set, &number));
    SHOW(number == SIGUSR1);
    return set;
}

static void handle_somewhere(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
}

static void get_it(int way, sigset_t const* set) {
    sigset_t none;
    sigemptyset(&none);
    struct signalfd_siginfo about;
    struct timespec const long_time = {20, 0};
    int number = 0;
    switch (way) {
        case 0:
            await_pending(SIGUSR1);
            block(SIGUSR1, SIG_UNBLOCK);
            while (atomic_load(&s_handled) == 0) sched_yield();
            break;
        case 1:
            SHOW(sigwait(set, &number));
            SHOW(number == SIGUSR1);
            break;
        case 2:
            SHOW(sigsuspend(&none));
            SHOW(errno == EINTR);
            break;
        case 3: SHOW(sigtimedwait(set, NULL, &long_time) == SIGUSR1); break;
        case 4:
            number = signalfd(-1, set, 0);
            SHOW(read(number, &about, sizeof about) == (ssize_t)sizeof about);
            SHOW(about.ssi_signo == SIGUSR1);
            close(number);
            break;
        case 5: in_thread(unblocks, NULL); break;
        case 6: in_thread(awaits_it, (void*)set); break;
        case 7: in_thread(computes_for_it, NULL); break;
        default: SHOW(ppoll(NULL, 0, &long_time, &none)); break;
    }
}

void left_to_process(void) {
    handle_by(handle_somewhere, SIGUSR1, 0);
    in_thread(add_own, (void*)1); // the workers are there before the mask is set
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int round = 0; round != 2; ++round) {
        for (int way = 0; way != 9; ++way) {
            atomic_store(&s_handled, 0);
            pthread_sigmask(SIG_BLOCK, &set, NULL);
            kill(getpid(), SIGUSR1);
            get_it(way, &set);
            SHOW(atomic_load(&s_handled));
        }
    }
}

// A thread ends, or blocks the signal again, while it is to get one; another one gets it then.
static void* wants_for_a_moment(void* ends) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (ends == NULL) pthread_sigmask(SIG_BLOCK, &set, NULL);
    return NULL;
}

static void* wants_so_many(void* number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (atomic_load(&s_handled) < (intptr_t)number) usleep(100);
    return NULL;
}

void lent(void) {
    handle_by(handle_somewhere, SIGUSR1, SA_RESTART);
    block(SIGUSR1, SIG_BLOCK);
    for (intptr_t k = 1; k <= 300; ++k) {
        pthread_t t;
        pthread_create(&t, NULL, wants_for_a_moment, k % 2 == 0 ? &t : NULL);
        kill(getpid(), SIGUSR1);
        pthread_join(t, NULL);
        in_thread(wants_so_many, (void*)k);
    }
    SHOW(atomic_load(&s_handled));
}

// Main waits for a semaphore when a handler runs there.
static pthread_t s_first;
static atomic_int s_is_over;
static void* disturbs_first(void* argument) {
    while (atomic_load(&s_is_over) == 0) {
        pthread_kill(s_first, SIGUSR1);
        usleep(1000);
    }
    return argument;
}

static void* posts_after_signal(void* s) {
    pthread_kill(s_first, SIGUSR1);
    while (atomic_load(&s_handled) == 0) usleep(1000);
    sem_post(s);
    return NULL;
}

void interrupted_main(void) {
    sem_t s;
    pthread_t t;
    sem_init(&s, 0, 0);
    s_first = pthread_self();
    // No thread has been made yet.
    handle_by(handle_somewhere, SIGALRM, 0);
    struct itimerval const often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    SHOW(sem_wait(&s) == -1 && errno == EINTR);
    setitimer(ITIMER_REAL, &never, NULL);

    handle_by(handle_somewhere, SIGUSR1, 0);
    struct timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 20;
    for (int timed = 0; timed != 2; ++timed) {
        atomic_store(&s_is_over, 0);
        pthread_create(&t, NULL, disturbs_first, NULL);
        SHOW((timed ? sem_timedwait(&s, &late) : sem_wait(&s)) == -1 && errno == EINTR);
        atomic_store(&s_is_over, 1);
        pthread_join(t, NULL);
    }
    handle_by(handle_somewhere, SIGUSR1, SA_RESTART);
    atomic_store(&s_is_over, 0);
    pthread_create(&t, NULL, disturbs_first, NULL);
    SHOW(sem_timedwait(&s, &late) == -1 && errno == EINTR);
    atomic_store(&s_is_over, 1);
    pthread_join(t, NULL);
    for (int k = 0; k != 20; ++k) {
        atomic_store(&s_handled, 0);
        pthread_create(&t, NULL, posts_after_signal, &s);
        SHOW(sem_wait(&s));
        pthread_join(t, NULL);
    }
}

// A signal that a thread blocks is let in while it polls.
static int poll_somehow(int way, int number, struct timespec const* time, sigset_t const* mask) {
    struct pollfd asked = {number, POLLIN, 0};
    fd_set set;
    struct epoll_event event = {.events = EPOLLIN};
    FD_ZERO(&set);
    FD_SET(number, &set);
    if (way == 0) return ppoll(&asked, 1, time, mask);
    if (way == 1) return pselect(number + 1, &set, NULL, NULL, time, mask);
    int const all = epoll_create1(0);
    epoll_ctl(all, EPOLL_CTL_ADD, number, &event);
    int const result = epoll_pwait(all, &event, 1, (int)(time->tv_sec * 1000), mask);
    int const error = errno;
    close(all);
    errno = error;
    return result;
}

static void* polls_with_mask(void* way) {
    sigset_t set, none, now;
    struct timespec const at_once = {0, 0}, late = {20, 0};
    int ends[2];
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pipe(ends) != 0) abort();
    int const how = (int)(intptr_t)way;
    SHOW(poll_somehow(how, ends[0], &at_once, NULL));
    // It has come before.
    SHOW(pthread_kill(pthread_self(), SIGUSR1));
    SHOW(poll_somehow(how, ends[0], &late, &none) == -1 && errno == EINTR);
    SHOW(atomic_load(&s_handled));
    // It comes meanwhile.
    atomic_store(&s_ready, 1);
    SHOW(poll_somehow(how, ends[0], &late, &none) == -1 && errno == EINTR);
    SHOW(atomic_load(&s_handled));
    SHOW(pthread_sigmask(SIG_BLOCK, NULL, &now));
    SHOW(sigismember(&now, SIGUSR1));
    // The mask that is given keeps it out.
    SHOW(pthread_kill(pthread_self(), SIGUSR1));
    SHOW(poll_somehow(how, ends[0], &at_once, &set));
    if (write(ends[1], "x", 1) != 1) abort();
    SHOW(poll_somehow(how, ends[0], &late, &set));
    SHOW(atomic_load(&s_handled));
    SHOW(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
    SHOW(atomic_load(&s_handled));
    return way;
}

static void leave_alone(void* unused) { (void)unused; }

void masked_polls(void) {
    for (intptr_t way = 0; way != 3; ++way) {
        atomic_store(&s_handled, 0);
        handle_by(handle_somewhere, SIGUSR1, SA_RESTART);
        interrupt(polls_with_mask, (void*)way, leave_alone); // one signal, which stays pending
    }
}

// Handlers that do not return.
static _Thread_local sigjmp_buf t_back;
static void jump_back(int number) { siglongjmp(t_back, number); }

static void show_mask(void) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    SHOW(sigismember(&now, SIGUSR1));
    SHOW(sigismember(&now, SIGUSR2));
}

static void* jumps_out(void* saves) {
    volatile int jumps = 0;
    int const by = sigsetjmp(t_back, saves != NULL);
    show_mask();
    if (by != 0) ++jumps;
    if (jumps < 3) {
        if (saves == NULL) block(SIGUSR1, SIG_UNBLOCK);
        raise(SIGUSR1);
    }
    SHOW(jumps);
    return saves;
}

// It is jumped out of a handler that the kernel has called.
static void* jumps_out_of_computing(void* argument) {
    volatile int jumps = 0;
    block(SIGUSR1, SIG_UNBLOCK);
    if (sigsetjmp(t_back, 1) != 0) ++jumps;
    atomic_store(&s_ready, jumps + 1);
    while (jumps < 5) {}
    SHOW(jumps);
    block(SIGUSR1, SIG_BLOCK);
    return argument;
}

void jumps_of_handlers(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump_back;
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    in_thread(jumps_out, &action);
    in_thread(jumps_out, NULL);
    block(SIGUSR1, SIG_BLOCK);
    pthread_t t;
    atomic_store(&s_ready, 0);
    pthread_create(&t, NULL, jumps_out_of_computing, NULL);
    for (int k = 1; k <= 5; ++k) {
        while (atomic_load(&s_ready) != k) usleep(1000);
        kill(getpid(), SIGUSR1);
    }
    pthread_join(t, NULL);
    show_mask();
}

// Stacks for handlers: each thread has its own.
static _Thread_local char* t_stack;
enum { k_stack_bytes = 65536 };
static atomic_int s_on_stack, s_off_stack;

static void note_stack(int number) {
    char const here = (char)number;
    stack_t now, other = {NULL, SS_DISABLE, 0};
    bool const is_inside = t_stack != NULL && &here >= t_stack && &here < t_stack + k_stack_bytes;
    if (sigaltstack(NULL, &now) != 0) abort();
    if (is_inside != ((now.ss_flags & SS_ONSTACK) != 0)) abort();
    if (is_inside && (sigaltstack(&other, NULL) != -1 || errno != EPERM)) abort();
    sched_yield();
    usleep(1000);
    atomic_fetch_add(is_inside ? &s_on_stack : &s_off_stack, 1);
}

static void* handles_on_stack(void* wants) {
    stack_t now, small = {&now, 0, 100}, odd = {&now, 12345, 65536};
    SHOW(sigaltstack(NULL, &now));
    if (!pthread_equal(pthread_self(), s_first)) SHOW(now.ss_flags == SS_DISABLE);
    SHOW(sigaltstack(&small, NULL) == -1 && errno == ENOMEM);
    SHOW(sigaltstack(&odd, NULL) == -1 && errno == EINVAL);
    int too_small = 0; // of these sizes, of which the least depends on the architecture
    for (small.ss_size = 512; small.ss_size <= 8192; small.ss_size += 512) {
        if (sigaltstack(&small, NULL) != 0) ++too_small;
    }
    SHOW(too_small);
    stack_t const none = {NULL, SS_DISABLE, 0};
    sigaltstack(&none, NULL);
    t_stack = NULL;
    if (wants != NULL) {
        t_stack = malloc(k_stack_bytes);
        stack_t const own = {t_stack, 0, k_stack_bytes};
        SHOW(sigaltstack(&own, NULL));
        SHOW(sigaltstack(NULL, &now));
        SHOW(now.ss_sp == t_stack && now.ss_size == k_stack_bytes && now.ss_flags == 0);
    }
    for (int k = 0; k != 10; ++k) {
        raise(SIGUSR1);
        sched_yield();
    }
    SHOW(sigaltstack(&none, &now));
    SHOW(now.ss_sp == t_stack);
    raise(SIGUSR1);
    free(t_stack);
    return NULL;
}

static void* handles_quietly(void* wants) {
    stack_t own = {NULL, SS_DISABLE, 0};
    if (wants != NULL) own = (stack_t){t_stack = malloc(k_stack_bytes), 0, k_stack_bytes};
    if (sigaltstack(&own, NULL) != 0) abort();
    for (int k = 0; k != 20; ++k) {
        raise(SIGUSR1);
        usleep(100);
    }
    stack_t const none = {NULL, SS_DISABLE, 0};
    if (sigaltstack(&none, NULL) != 0) abort();
    free(t_stack);
    return NULL;
}

void stacks_of_handlers(void) {
    s_first = pthread_self();
    handle_by(note_stack, SIGUSR1, SA_ONSTACK);
    in_thread(handles_on_stack, &s_ready);
    in_thread(handles_on_stack, NULL);
    SHOW(atomic_load(&s_on_stack));
    SHOW(atomic_load(&s_off_stack));
    pthread_t t[8];
    for (int k = 0; k != 8; ++k)
        pthread_create(&t[k], NULL, handles_quietly, k % 2 == 0 ? &t : NULL);
    for (int k = 0; k != 8; ++k) pthread_join(t[k], NULL);
    handles_on_stack(&s_ready); // main
    SHOW(atomic_load(&s_on_stack));
    SHOW(atomic_load(&s_off_stack));
}

// Main blocks a signal when the first thread is made, and that is not for threads that come later.
static void* pauses(void* argument) {
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_handled) == 0) usleep(1000);
    return argument;
}

void mask_at_start(void) {
    pthread_t t;
    handle_by(handle_somewhere, SIGUSR1, 0);
    block(SIGUSR1, SIG_BLOCK);
    in_thread(add_own, (void*)1);
    block(SIGUSR1, SIG_UNBLOCK);
    pthread_create(&t, NULL, pauses, NULL);
    block(SIGUSR1, SIG_BLOCK);
    kill(getpid(), SIGUSR1);
    pthread_join(t, NULL);
    SHOW(atomic_load(&s_handled));
}

// Faults that a handler catches again and again.
static void* has_faults(void* on_stack) {
    char volatile* volatile const nowhere = (char volatile*)8;
    volatile int caught = 0;
    stack_t const own = {malloc(k_stack_bytes), 0, k_stack_bytes};
    if (on_stack != NULL) SHOW(sigaltstack(&own, NULL));
    if (sigsetjmp(t_back, 1) != 0) ++caught;
    if (caught % 2 == 1) sched_yield();
    if (caught < 5) *nowhere = 1;
    SHOW(caught);
    show_mask();
    return on_stack;
}

void faults(void) {
    handle_by(jump_back, SIGSEGV, SA_ONSTACK);
    in_thread(has_faults, NULL);
    in_thread(has_faults, &s_ready);
    handle_by(jump_back, SIGSEGV, 0);
    in_thread(has_faults, NULL);
    has_faults(NULL);
}

// Signals without handlers, blocked before the first thread is made.
static void* counts_signals(void* set) {
    int number = 0;
    while (sigwait(set, &number) == 0 && number != SIGTERM) atomic_fetch_add(&s_handled, 1);
    return set;
}

static void* sends_many(void* argument) {
    for (int k = 1; k <= 100; ++k) {
        kill(getpid(), SIGUSR1);
        while (atomic_load(&s_handled) != k) usleep(100);
    }
    kill(getpid(), SIGTERM);
    return argument;
}

void awaited_without_handlers(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1); // it is there already
    pthread_t t;
    int number = 0;
    pthread_create(&t, NULL, counts_signals, &set);
    while (atomic_load(&s_handled) == 0) usleep(1000);
    atomic_store(&s_handled, 0);
    in_thread(sends_many, NULL);
    pthread_join(t, NULL);
    kill(getpid(), SIGUSR1);
    SHOW(sigwait(&set, &number));
    SHOW(number == SIGUSR1);
    SHOW(atomic_load(&s_handled));
}

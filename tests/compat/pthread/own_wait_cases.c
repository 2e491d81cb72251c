// SPDX-License-Identifier: Apache-2.0
// Cases of signals that a process sends to itself while somebody waits or is in a handler.
#define _GNU_SOURCE
#include "cases.h"
#include "handlers.h"
#include "other_masks.h"

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

// Of a signal that another thread takes just then epoll_pwait tells by EINTR, though no handler has
// run here, where the others wait on.
static int wait_until(atomic_int* is_over, int (*wait)(void)) {
    int result = 0;
    do result = wait();
    while (result == -1 && errno == EINTR && atomic_load(is_over) == 0);
    return result;
}

static void send_to_waiting_main(int (*wait)(void), int number) {
    pthread_t sender;
    atomic_store(&s_by_main, 0);
    pthread_create(&sender, NULL, sends_until_main_has_it, &number);
    int const result = wait_until(&s_by_main, wait);
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
    int const result = wait_until(&s_alarms, wait);
    pthread_join(sender, NULL);
    if (result != -1) printf("%d\n", result);
}

static int polls_set_of_none(void) {
    struct epoll_event event;
    int const all = epoll_create1(0);
    int const result = epoll_pwait(all, &event, 1, -1, &s_only_other);
    int const error = errno;
    close(all);
    errno = error;
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

// --- cancelled ahead of a wait -------------------------------------------------------------------

static void cancel_caller(int number) {
    count_one(number);
    pthread_cancel(pthread_self());
}

static int suspends_for_a_while(void) { return sigsuspend(&s_only_other); }
static int polls_for_a_while(void) {
    struct pollfd asked = {s_pipe[0], POLLIN, 0};
    struct timespec const long_enough = {2, 0};
    return ppoll(&asked, 1, &long_enough, &s_only_other);
}
static int selects_for_a_while(void) {
    fd_set in;
    FD_ZERO(&in);
    FD_SET(s_pipe[0], &in);
    struct timespec const long_enough = {2, 0};
    return pselect(s_pipe[0] + 1, &in, NULL, NULL, &long_enough, &s_only_other);
}
static int s_set;
static int polls_set_for_a_while(void) {
    struct epoll_event event;
    return epoll_pwait(s_set, &event, 1, 2000, &s_only_other);
}
static int polls_set_by_time(void) {
    struct epoll_event event;
    struct timespec const long_enough = {2, 0};
    return epoll_pwait2(s_set, &event, 1, &long_enough, &s_only_other);
}

static int (*s_wait)(void);

static void* waits_when_it_is_cancelled(void* unused) {
    sigset_t const set = set_of(SIGUSR1, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_goes_on) == 0) {}
    s_wait();
    return unused;
}

// Its handler cancels the thread, which is about to wait: by then it is pending, or has run.
static int count_cancelled(int (*wait)(void)) {
    int cancelled = 0;
    s_wait = wait;
    for (int k = 0; k != 40; ++k) {
        pthread_t waiter;
        void* result;
        atomic_store(&s_ready, 0);
        atomic_store(&s_goes_on, 0);
        pthread_create(&waiter, NULL, waits_when_it_is_cancelled, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        kill(getpid(), SIGUSR1);
        atomic_store(&s_goes_on, 1);
        pthread_join(waiter, &result);
        if (result != PTHREAD_CANCELED) return cancelled;
        ++cancelled;
    }
    return cancelled;
}

void cancelled_ahead_of_waits(void) {
    sigset_t const set = set_of(SIGUSR1, SIGUSR1);
    handle_by(cancel_caller, SIGUSR1, 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s_only_other = set_of(SIGUSR2, SIGUSR2);
    s_set = epoll_create1(0);
    if (pipe(s_pipe) != 0) abort();
    SHOW(count_cancelled(suspends_for_a_while));
    SHOW(count_cancelled(polls_for_a_while));
    SHOW(count_cancelled(selects_for_a_while));
    SHOW(count_cancelled(polls_set_for_a_while));
    SHOW(count_cancelled(polls_set_by_time));
}

// --- what the mask of a call that does not wait lets in ------------------------------------------

static int s_asked;

static int polls_at_once(void) {
    struct pollfd asked = {s_asked, POLLIN, 0};
    struct timespec const none = {0, 0};
    return ppoll(&asked, 1, &none, &s_only_other);
}
static int selects_at_once(void) {
    fd_set in;
    FD_ZERO(&in);
    FD_SET(s_asked, &in);
    struct timespec const none = {0, 0};
    int const result = pselect(s_asked + 1, &in, NULL, NULL, &none, &s_only_other);
    if (result < 0 && !FD_ISSET(s_asked, &in)) printf("the set has changed\n");
    return result;
}
static int polls_set_at_once(void) {
    struct epoll_event event = {EPOLLIN, {0}};
    int const all = epoll_create1(0);
    if (epoll_ctl(all, EPOLL_CTL_ADD, s_asked, &event) != 0) abort();
    int const result = epoll_pwait(all, &event, 1, 0, &s_only_other);
    int const error = errno;
    close(all);
    errno = error;
    return result;
}

static void await_pending(int number) {
    sigset_t now;
    for (int seen = 0; seen != 8; usleep(2000))
        seen = sigpending(&now) == 0 && sigismember(&now, number) == 1 ? seen + 1 : 0;
}

static void* asks_without_waiting(void* unused) {
    static int (*const k_calls[])(void) = {polls_at_once, selects_at_once, polls_set_at_once};
    struct timespec const none = {0, 0};
    sigset_t const set = set_of(SIGUSR1, SIGUSR1);
    for (int k = 0; k != 12; ++k) {
        int const is_for_thread = k >= 6;
        s_asked = s_pipe[k % 6 / 3]; // there is nothing to be read from the first one
        atomic_store(&s_handled, 0);
        if (is_for_thread)
            raise(SIGUSR1);
        else
            kill(getpid(), SIGUSR1);
        await_pending(SIGUSR1);
        errno = 0;
        int const result = k_calls[k % 3]();
        int const is_interrupted = result < 0 && errno == EINTR;
        printf("%d: %d, interrupted: %d, ", k, result, is_interrupted);
        printf("handled: %d, ", atomic_load(&s_handled));
        if (atomic_load(&s_handled) == 0) await_pending(SIGUSR1);
        printf("pending: %d\n", sigtimedwait(&set, NULL, &none) == SIGUSR1);
    }
    return unused;
}

void asked_with_other_masks(void) {
    int full[2];
    sigset_t const set = set_of(SIGUSR1, SIGUSR1);
    handle_by(count_one, SIGUSR1, SA_RESTART);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s_only_other = set_of(SIGUSR2, SIGUSR2);
    if (pipe(s_pipe) != 0 || pipe(full) != 0 || write(full[1], "", 1) != 1) abort();
    s_pipe[1] = full[0];
    in_both(asks_without_waiting);
}

// --- the end of a command ------------------------------------------------------------------------

static void* runs_command(void* unused) {
    sigset_t const of_children = set_of(SIGCHLD, SIGCHLD);
    int handled = 0;
    pthread_sigmask(SIG_UNBLOCK, &of_children, NULL);
    for (int k = 0; k != 5; ++k) {
        atomic_store(&s_handled, 0);
        int const status = system("kill -CHLD $PPID; sleep 0.1; exit 3");
        handled += atomic_load(&s_handled);
        if (status != 3 << 8) printf("%d\n", status);
    }
    printf("handled: %d\n", handled);
    return unused;
}
static void end_caller(int number) {
    count_one(number);
    pthread_exit(&s_handled);
}

// What has come while a command ran is handled before system returns; the handler may end the
// thread.
void handled_at_ends_of_commands(void) {
    sigset_t const of_children = set_of(SIGCHLD, SIGCHLD);
    handle_by(count_one, SIGCHLD, SA_RESTART);
    pthread_sigmask(SIG_BLOCK, &of_children, NULL);
    in_thread(runs_command, NULL);
    handle_by(end_caller, SIGCHLD, 0);
    SHOW(in_thread(runs_command, NULL) == &s_handled);
}

// --- another handler ends the thread -------------------------------------------------------------

static atomic_int s_has_begun;

static void end_thread(int number) {
    (void)number;
    pthread_exit(NULL);
}

static void* sends_to_itself_and_ends(void* unused) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_goes_on) == 0) getppid(); // where it is not interrupted
    atomic_store(&s_has_begun, 1);
    kill(getpid(), SIGUSR2);
    return unused;
}

// What it has sent is handled, or waits for others. Where it is ended just before it sends, nothing
// is lost, but that looks the same: that is rare.
void kills_of_who_is_ended(void) {
    enum { k_rounds = 100 };
    sigset_t const both = set_of(SIGUSR1, SIGUSR2), sent = set_of(SIGUSR2, SIGUSR2);
    int lost = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_thread;
    action.sa_mask = sent;
    sigaction(SIGUSR1, &action, NULL);
    handle_by(count_one, SIGUSR2, 0);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    for (int k = 0; k != k_rounds; ++k) {
        pthread_t sender;
        struct timespec const a_while = {0, 20000000};
        atomic_store(&s_handled, 0);
        atomic_store(&s_ready, 0);
        atomic_store(&s_goes_on, 0);
        atomic_store(&s_has_begun, 0);
        pthread_create(&sender, NULL, sends_to_itself_and_ends, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        pthread_kill(sender, SIGUSR1);
        atomic_store(&s_goes_on, 1);
        pthread_join(sender, NULL);
        if (atomic_load(&s_has_begun) == 0 || atomic_load(&s_handled) != 0) continue;
        lost += sigtimedwait(&sent, NULL, &a_while) != SIGUSR2;
    }
    if (lost > k_rounds / 20) printf("lost: %d\n", lost);
    printf("rounds: %d\n", k_rounds);
}

// --- by handlers that the kernel calls wherever a thread is --------------------------------------

static int s_of_kernel;

static void mask_own(int how) {
    sigset_t const set = set_of(SIGUSR1, SIGUSR1);
    if (pthread_sigmask(how, &set, NULL) != 0) abort();
}

static void* starts_others(void* unused) {
    while (atomic_load(&s_goes_on) != 0) in_thread(add_own, NULL);
    return unused;
}
static void* wants_own(void* unused) {
    mask_own(SIG_UNBLOCK);
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_goes_on) != 0) sched_yield();
    return unused;
}

static void kill_at_signal(int number) {
    (void)number;
    int const error = errno;
    kill(getpid(), SIGUSR1);
    errno = error;
}

// Their handlers take locks of the run time, which they may have interrupted.
static void post_from_handler(int number) {
    count_one(number);
    sem_post(&s_posted);
    sem_trywait(&s_posted);
}
static void* posts_and_waits(void* unused) {
    mask_own(SIG_UNBLOCK);
    while (atomic_load(&s_goes_on) != 0) {
        while (sem_wait(&s_posted) != 0) {}
        sem_post(&s_posted);
    }
    sem_post(&s_posted);
    return unused;
}

static void send_to_parent(void) {
    for (int k = 0; k != 20000; ++k) {
        kill(getppid(), s_of_kernel);
        if (k % 10 == 0) usleep(50);
    }
    _exit(0);
}

static void send_from_handlers(int signal, int flags) {
    enum { k_others = 5 };
    pthread_t receiver, others[k_others];
    atomic_store(&s_handled, 0);
    s_of_kernel = signal;
    mask_own(SIG_BLOCK);
    sem_init(&s_posted, 0, 1);
    handle_by(post_from_handler, SIGUSR1, SA_RESTART);
    handle_by(kill_at_signal, signal, flags);
    atomic_store(&s_ready, 0);
    atomic_store(&s_goes_on, 1);
    pthread_create(&receiver, NULL, wants_own, NULL);
    while (atomic_load(&s_ready) == 0) sched_yield();
    for (int k = 0; k != 2; ++k) pthread_create(others + k, NULL, starts_others, NULL);
    for (int k = 2; k != k_others; ++k) pthread_create(others + k, NULL, posts_and_waits, NULL);
    sigset_t const set = set_of(signal, signal); // so that workers get it
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pid_t const child = fork();
    if (child == 0) send_to_parent();
    SHOW(end_of(child));
    atomic_store(&s_goes_on, 0);
    pthread_join(receiver, NULL);
    for (int k = 0; k != k_others; ++k) pthread_join(others[k], NULL);
    SHOW(atomic_load(&s_handled) != 0);
}

void kills_by_profilers(void) {
    struct sigaction action;
    send_from_handlers(SIGPROF, SA_RESTART);
    handle_by(kill_at_signal, SIGPROF, SA_RESTART | SA_NODEFER);
    sigaction(SIGPROF, NULL, &action);
    SHOW(sigismember(&action.sa_mask, SIGABRT));
}

// --- in a child that a thread has forked ---------------------------------------------------------

static atomic_int s_depth, s_deepest, s_kept_out;
static int s_raises;

static void send_again(int number) {
    sigset_t now;
    int const depth = atomic_fetch_add(&s_depth, 1) + 1;
    if (depth > atomic_load(&s_deepest)) atomic_store(&s_deepest, depth);
    if (atomic_fetch_add(&s_handled, 1) < 3) {
        if (s_raises)
            raise(number);
        else
            kill(getpid(), number);
        if (atomic_load(&s_deepest) == 1) await_pending(number);
    }
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    atomic_fetch_add(&s_kept_out, sigismember(&now, number));
    atomic_fetch_sub(&s_depth, 1);
}

static void send_in_child(void) {
    pthread_t other;
    mask_own(SIG_BLOCK);
    atomic_store(&s_goes_on, 1);
    pthread_create(&other, NULL, lives, NULL);
    usleep(50000); // an OS thread that begins may take what is sent then
    mask_own(SIG_UNBLOCK);
    for (s_raises = 0; s_raises != 2; ++s_raises) {
        atomic_store(&s_handled, 0);
        if (s_raises)
            raise(SIGUSR1);
        else
            kill(getpid(), SIGUSR1);
        printf("handled: %d, ", atomic_load(&s_handled));
        printf("deepest: %d, ", atomic_load(&s_deepest));
        printf("kept out: %d\n", atomic_load(&s_kept_out));
    }
    atomic_store(&s_goes_on, 0);
    pthread_join(other, NULL);
    fflush(stdout);
    _exit(0);
}

static void* forks_and_sends(void* unused) {
    pid_t const child = fork();
    if (child == 0) send_in_child();
    SHOW(end_of(child));
    return unused;
}

// The one thread that is left from before makes another one, and stays with its OS thread.
void kills_in_handlers_of_children(void) {
    handle_by(send_again, SIGUSR1, 0);
    in_thread(forks_and_sends, NULL);
}

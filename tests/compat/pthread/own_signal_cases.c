// SPDX-License-Identifier: Apache-2.0
// Cases of signals that a process sends to itself: whoever is to get one has it when kill returns,
// and the caller has handled it if it is the only one that wants it (POSIX, kill).
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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int s_handled, s_ready, s_goes_on;
static atomic_intptr_t s_handled_by;

static void count_one(int number) {
    (void)number;
    atomic_store(&s_handled_by, (intptr_t)pthread_self());
    atomic_fetch_add(&s_handled, 1);
}

static sigset_t set_of(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    return set;
}
static sigset_t own(void) { return set_of(SIGUSR1, SIGUSR1); }

static void block_by_mask(void) {
    sigset_t const set = own();
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) abort();
}
static void block_own(void) {
    if (signal(SIGUSR1, count_one) == SIG_ERR) abort();
    block_by_mask();
}
static void unblock_own(void) {
    sigset_t const set = own();
    if (pthread_sigmask(SIG_UNBLOCK, &set, NULL) != 0) abort();
}

// --- the caller is the only one that wants it ----------------------------------------------------

enum { k_rounds = 500 };

static void* kills_itself(void* unused) {
    int by_kill = 0, by_queue = 0;
    union sigval value;
    memset(&value, 0, sizeof value);
    unblock_own();
    for (int k = 0; k != k_rounds; ++k) {
        atomic_store(&s_handled, 0);
        kill(getpid(), SIGUSR1);
        by_kill += atomic_load(&s_handled) == 1;
        sigqueue(getpid(), SIGUSR1, value);
        by_queue += atomic_load(&s_handled) == 2;
    }
    printf("handled at once: %d, %d\n", by_kill, by_queue);
    SHOW(atomic_load(&s_handled_by) == (intptr_t)pthread_self());
    return unused;
}

static void* kills_with_standard_action(void* unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    static char const k_lives[] = "it goes on\n";
    if (write(STDOUT_FILENO, k_lives, sizeof k_lives - 1) < 0) abort();
    return unused;
}

void kills_of_callers(void) {
    block_own();
    in_thread(kills_itself, NULL);
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        in_thread(kills_with_standard_action, NULL);
        _exit(0);
    }
    SHOW(end_of(child) == -SIGTERM);
}

// --- nobody wants it -----------------------------------------------------------------------------

// Till all OS threads know that nobody wants it: it may be in their hands for a moment.
enum { k_looks = 8 };

static int is_pending(void) {
    sigset_t now;
    return sigpending(&now) == 0 && sigismember(&now, SIGUSR1) == 1;
}
static void await_pending(void) {
    for (int seen = 0; seen != k_looks; usleep(2000)) seen = is_pending() ? seen + 1 : 0;
}

static void* takes_blocked(void* argument) {
    sigset_t const set = own();
    struct timespec const at_once = {0, 0};
    int pending = 0, taken = 0;
    for (int k = 0; k != k_rounds; ++k) {
        sigset_t now;
        kill(getpid(), SIGUSR1);
        if (k < 10) await_pending();
        sigpending(&now);
        pending += sigismember(&now, SIGUSR1);
        taken += sigtimedwait(&set, NULL, &at_once) == SIGUSR1;
    }
    printf("pending: %d, taken: %d\n", pending, taken);
    return argument;
}

static void* unblocks(void* argument) {
    int handled = 0;
    for (int k = 0; k != 30; ++k) {
        atomic_store(&s_handled, 0);
        kill(getpid(), SIGUSR1);
        await_pending();
        unblock_own();
        handled += atomic_load(&s_handled) == 1;
        block_own();
    }
    printf("handled as it is unblocked: %d\n", handled);
    return argument;
}

void kills_that_are_blocked(void) {
    block_own();
    in_both(takes_blocked);
    in_both(unblocks);
}

// --- the only one that wants it ends -------------------------------------------------------------

static void* ends_soon(void* unused) {
    unblock_own();
    atomic_store(&s_ready, 1);
    while (atomic_load(&s_goes_on) != 0) sched_yield();
    return unused;
}

// Whoever it is that sends it blocks it.
static int handled_by_who_ends(int rounds) {
    int handled = 0;
    for (int k = 0; k != rounds; ++k) {
        pthread_t receiver;
        atomic_store(&s_handled, 0);
        atomic_store(&s_ready, 0);
        atomic_store(&s_goes_on, 1);
        pthread_create(&receiver, NULL, ends_soon, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        kill(getpid(), SIGUSR1);
        atomic_store(&s_goes_on, 0);
        pthread_join(receiver, NULL);
        handled += atomic_load(&s_handled) == 1;
    }
    return handled;
}
static void* kills_who_ends(void* argument) {
    printf("handled: %d\n", handled_by_who_ends(k_rounds));

    return argument;
}

void kills_at_ends(void) {
    block_own();
    in_both(kills_who_ends);
}

// Destructors of keys run when the function of a thread has returned; handlers do, too.
static pthread_key_t s_key;

static void kill_own(void* value) {
    (void)value;
    kill(getpid(), SIGUSR1);
}
static void* has_value(void* unused) {
    unblock_own();
    pthread_setspecific(s_key, &s_key);
    return unused;
}
static void end_caller(int number) {
    count_one(number);
    pthread_exit(NULL);
}
static void* is_killed_at_end(void* unused) {
    sigset_t const set = own();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return unused;
}

void kills_by_destructors(void) {
    block_own();
    pthread_key_create(&s_key, kill_own);
    in_thread(has_value, NULL);
    SHOW(atomic_load(&s_handled));
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = end_caller;
    sigaction(SIGUSR1, &action, NULL);
    for (int k = 0; k != 500; ++k) {
        pthread_t receiver;
        pthread_create(&receiver, NULL, is_killed_at_end, NULL);
        if (k % 2 == 0) sched_yield();
        pthread_kill(receiver, SIGUSR1);
        pthread_join(receiver, NULL);
    }
    printf("ended\n");
}

// --- main has ended ------------------------------------------------------------------------------

static pthread_t s_main;

static void* kills_after_main(void* unused) {
    (void)unused;
    pthread_join(s_main, NULL);
    usleep(20000);
    block_own();
    atomic_store(&s_handled, 0);
    kill(getpid(), SIGUSR1);
    usleep(20000);
    SHOW(atomic_load(&s_handled));
    unblock_own();
    SHOW(atomic_load(&s_handled));
    exit(0);
}

// Main would have wanted it.
void kills_without_main(void) {
    pthread_t other;
    s_main = pthread_self();
    pthread_create(&other, NULL, kills_after_main, NULL);
    pthread_exit(NULL);
}

// --- by handlers ---------------------------------------------------------------------------------

static pthread_t s_receiver;
static atomic_int s_alarms;

static void pass_on(int number) {
    (void)number;
    atomic_fetch_add(&s_alarms, 1);
    pthread_kill(s_receiver, SIGUSR1);
}
static void* waits_for_signals(void* unused) {
    while (atomic_load(&s_goes_on) != 0) usleep(100000);
    return unused;
}

// A handler of main signals a thread while main does: it may have interrupted that.
void kills_by_handlers(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_one;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = pass_on;
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    atomic_store(&s_goes_on, 1);
    pthread_create(&s_receiver, NULL, waits_for_signals, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    struct itimerval const often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (atomic_load(&s_alarms) < 4000) pthread_kill(s_receiver, SIGUSR1);
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&s_goes_on, 0);
    pthread_kill(s_receiver, SIGUSR1);
    pthread_join(s_receiver, NULL);
    SHOW(atomic_load(&s_handled) != 0);
}

// --- handlers that jump out of it ----------------------------------------------------------------

static sigjmp_buf s_target;
static atomic_int s_jumps;

static void jump_to_target(int number) {
    (void)number;
    atomic_fetch_add(&s_jumps, 1);
    siglongjmp(s_target, 1);
}

static void* sends_to_itself_and_jumps(void* unused) {
    handle_by(jump_to_target, SIGUSR1, 0);
    unblock_own();
    for (volatile int k = 0; k != k_rounds; ++k)
        if (sigsetjmp(s_target, 1) == 0) kill(getpid(), SIGUSR1);
    printf("jumps: %d\n", atomic_load(&s_jumps));
    return unused;
}

// A timer's handler ends main's call wherever it is.
void jumps_out_of_kills(void) {
    pthread_t receiver;
    block_own();
    in_thread(sends_to_itself_and_jumps, NULL);
    handle_by(count_one, SIGUSR1, 0);
    sigset_t const alarm_only = set_of(SIGALRM, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    atomic_store(&s_ready, 0);
    atomic_store(&s_goes_on, 1);
    pthread_create(&receiver, NULL, ends_soon, NULL);
    while (atomic_load(&s_ready) == 0) sched_yield();
    handle_by(jump_to_target, SIGALRM, 0);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    struct itimerval const often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    atomic_store(&s_jumps, 0);
    if (sigsetjmp(s_target, 1) == 0) setitimer(ITIMER_REAL, &often, NULL);
    while (atomic_load(&s_jumps) < 3000) kill(getpid(), SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&s_goes_on, 0);
    pthread_join(receiver, NULL);
    SHOW(atomic_load(&s_handled) != 0);
    printf("handled: %d\n", handled_by_who_ends(k_rounds));
}

// --- main's mask is another one for a while ------------------------------------------------------

static atomic_int s_in_handler;

static void wait_in_handler(int number) {
    (void)number;
    atomic_store(&s_in_handler, 1);
    while (atomic_load(&s_in_handler) == 1) sched_yield();
}
static void jump_from_handler(int number) {
    wait_in_handler(number);
    siglongjmp(s_target, 1);
}

// While main is in a handler that blocks it, the one that is about to end is the only one that
// wants it.
static void* sends_while_main_is_in_handler(void* handled) {
    block_own();
    while (atomic_load(&s_in_handler) == 0) sched_yield();
    *(int*)handled += handled_by_who_ends(1);
    atomic_store(&s_in_handler, 2);
    return handled;
}
static void* sends_to_main(void* handled) {
    block_own();
    atomic_store(&s_handled, 0);
    kill(getpid(), SIGUSR1);
    while (atomic_load(&s_handled) == 0) sched_yield();
    *(int*)handled += atomic_load(&s_handled_by) == (intptr_t)s_main;
    return handled;
}
static void* sends_to_who_ends(void* handled) {
    block_own();
    *(int*)handled += handled_by_who_ends(1);
    return handled;
}

static void handle_with_own_blocked(void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_mask = own();
    sigaction(SIGUSR2, &action, NULL);
}

static void handle_in_main(void (*handler)(int), int* handled) {
    pthread_t sender;
    handle_with_own_blocked(handler);
    atomic_store(&s_in_handler, 0);
    pthread_create(&sender, NULL, sends_while_main_is_in_handler, handled);
    if (sigsetjmp(s_target, 1) == 0) raise(SIGUSR2);
    pthread_join(sender, NULL);
}

void kills_beside_handlers_of_main(void) {
    static int s_inside, s_after, s_after_jump, s_blocked;
    s_main = pthread_self();
    handle_by(count_one, SIGUSR1, 0);
    for (volatile int k = 0; k != 100; ++k) {
        handle_in_main(wait_in_handler, &s_inside);
        in_thread(sends_to_main, &s_after);
        handle_in_main(jump_from_handler, &s_inside);
        in_thread(sends_to_main, &s_after_jump);
        // The mask that comes back by the jump blocks it, that of the handler does not.
        handle_by(jump_to_target, SIGUSR2, 0);
        block_own();
        if (sigsetjmp(s_target, 1) == 0) {
            unblock_own();
            raise(SIGUSR2);
        }
        in_thread(sends_to_who_ends, &s_blocked);
        unblock_own();
    }
    printf("inside: %d, after: %d, %d, blocked: %d\n", s_inside, s_after, s_after_jump, s_blocked);
}

// --- waits for several ---------------------------------------------------------------------------

static void* waits_for_both(void* found) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    atomic_store(&s_ready, 1);
    sigwait(&both, found);
    while (atomic_load(&s_goes_on) != 0) usleep(1000);
    return found;
}
static void* takes_other(void* number) {
    sigset_t const other = set_of(*(int*)number, *(int*)number);
    struct timespec const long_enough = {20, 0};
    *(int*)number = sigtimedwait(&other, NULL, &long_enough);
    return number;
}

// What a wait does not return is there for others, while the one that has waited goes on.
void waits_for_both_of_own(void) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    int taken = 0;
    handle_by(count_one, SIGUSR2, 0);
    block_own();
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    for (int k = 0; k != 200; ++k) {
        pthread_t waiter;
        int found = 0;
        atomic_store(&s_ready, 0);
        atomic_store(&s_goes_on, 1);
        pthread_create(&waiter, NULL, waits_for_both, &found);
        while (atomic_load(&s_ready) == 0) sched_yield();
        if (k % 2 == 0) usleep(1000);
        kill(getpid(), SIGUSR2);
        kill(getpid(), SIGUSR1);
        while (*(int volatile*)&found == 0) sched_yield();
        int other = found == SIGUSR1 ? SIGUSR2 : SIGUSR1;
        int const wanted = other;
        in_thread(takes_other, &other);
        taken += other == wanted;
        atomic_store(&s_goes_on, 0);
        pthread_join(waiter, NULL);
    }
    printf("taken: %d\n", taken);
}

// --- waits with another mask ---------------------------------------------------------------------

static int polls_set(void) {
    struct epoll_event event = {EPOLLIN, {0}};
    int const all = epoll_create1(0);
    if (epoll_ctl(all, EPOLL_CTL_ADD, s_pipe[0], &event) != 0) abort();
    int const result = epoll_pwait(all, &event, 1, -1, &s_only_other);
    int const handled = atomic_load(&s_handled);
    close(all);
    return atomic_load(&s_handled) == handled ? result : -2;
}

static int (*s_wait)(void);

static void* waits_with_other_mask(void* handled) {
    unblock_own();
    atomic_store(&s_ready, 1);
    int const result = s_wait();
    *(int*)handled += atomic_load(&s_handled);
    return (void*)(intptr_t)result;
}

static void do_nothing(int number) { (void)number; }

// It is sent while nobody wants it, or just before that.
static void send_during_wait(int (*wait)(void), int* handled) {
    pthread_t waiter;
    void* result;
    char byte = 0;
    s_wait = wait;
    atomic_store(&s_handled, 0);
    atomic_store(&s_ready, 0);
    pthread_create(&waiter, NULL, waits_with_other_mask, handled);
    while (atomic_load(&s_ready) == 0) sched_yield();
    usleep(2000);
    kill(getpid(), SIGUSR1);
    for (int seen = 0; seen != k_looks && atomic_load(&s_handled) == 0; seen += is_pending())
        usleep(2000);
    if (wait == suspends)
        for (int k = 0; k != 5000 && atomic_load(&s_handled) == 0; usleep(1000), ++k)
            pthread_kill(waiter, SIGUSR2);
    else if (write(s_pipe[1], &byte, 1) != 1)
        abort();
    pthread_join(waiter, &result);
    if ((intptr_t)result != (wait == suspends ? -1 : 1)) printf("%d\n", (int)(intptr_t)result);
    if (wait != suspends && read(s_pipe[0], &byte, 1) != 1) abort();
}

void kills_at_other_masks(void) {
    static int s_of[4];
    handle_by(do_nothing, SIGUSR2, 0);
    block_own();
    if (pipe(s_pipe) != 0) abort();
    s_only_other = own();
    for (int k = 0; k != 10; ++k) {
        send_during_wait(suspends, s_of);
        send_during_wait(polls, s_of + 1);
        send_during_wait(selects, s_of + 2);
        send_during_wait(polls_set, s_of + 3);
    }
    printf("handled: %d, %d, %d, %d\n", s_of[0], s_of[1], s_of[2], s_of[3]);
}

// --- within its handler --------------------------------------------------------------------------

static atomic_int s_depth, s_deepest;

static void kill_again(int number) {
    (void)number;
    int const depth = atomic_fetch_add(&s_depth, 1) + 1;
    if (depth > atomic_load(&s_deepest)) atomic_store(&s_deepest, depth);
    if (atomic_fetch_add(&s_handled, 1) < 2) {
        kill(getpid(), SIGUSR1);
        if (atomic_load(&s_deepest) == 1) await_pending();
    }
    atomic_fetch_sub(&s_depth, 1);
}
static void kill_deeper(int number) {
    int const depth = atomic_fetch_add(&s_depth, 1) + 1;
    if (depth > atomic_load(&s_deepest)) atomic_store(&s_deepest, depth);
    if (atomic_fetch_add(&s_handled, 1) < 2) kill(getpid(), number);
    atomic_fetch_sub(&s_depth, 1);
}
static void kill_other(int number) {
    (void)number;
    int const before = atomic_load(&s_alarms);
    kill(getpid(), SIGUSR2);
    atomic_fetch_add(&s_handled, atomic_load(&s_alarms) == before + 1);
}
static void count_other(int number) {
    (void)number;
    atomic_fetch_add(&s_alarms, 1);
}

static void* kills_in_handlers(void* unused) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    int one_by_one = 0, nested = 0, other = 0;
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    for (int k = 0; k != 20; ++k) {
        handle_by(kill_again, SIGUSR1, 0);
        atomic_store(&s_handled, 0);
        atomic_store(&s_deepest, 0);
        kill(getpid(), SIGUSR1);
        one_by_one += atomic_load(&s_handled) == 3 && atomic_load(&s_deepest) == 1;
        handle_by(kill_deeper, SIGUSR1, SA_NODEFER);
        atomic_store(&s_handled, 0);
        atomic_store(&s_deepest, 0);
        kill(getpid(), SIGUSR1);
        nested += atomic_load(&s_handled) == 3 && atomic_load(&s_deepest) == 3;
        handle_by(kill_other, SIGUSR1, 0);
        handle_by(count_other, SIGUSR2, 0);
        atomic_store(&s_handled, 0);
        kill(getpid(), SIGUSR1);
        other += atomic_load(&s_handled);
    }
    printf("one by one: %d, nested: %d, other: %d\n", one_by_one, nested, other);
    return unused;
}

void kills_in_handlers_of_own(void) {
    sigset_t const both = set_of(SIGUSR1, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    in_thread(kills_in_handlers, NULL);
}

// --- other callers -------------------------------------------------------------------------------

static pthread_t start_on_stack_of_its_own(void* (*f)(void*), void* argument) {
    enum { k_size = 1 << 18 };
    pthread_attr_t how;
    pthread_t t;
    pthread_attr_init(&how);
    pthread_attr_setstack(&how, aligned_alloc(4096, k_size), k_size);
    pthread_create(&t, &how, f, argument);
    return t;
}

static void* looks_and_sends(void* unused) {
    sigset_t now;
    kill(getpid(), SIGUSR1);
    await_pending();
    sigpending(&now);
    SHOW(sigismember(&now, SIGUSR1));
    pid_t const child = vfork();
    if (child == 0) {
        sigset_t of_child;
        sigpending(&of_child);
        _exit(sigismember(&of_child, SIGUSR1));
    }
    SHOW(end_of(child));
    sigset_t const set = own();
    SHOW(sigwaitinfo(&set, NULL) == SIGUSR1);
    printf("handled: %d\n", handled_by_who_ends(100));
    return unused;
}

void kills_by_os_threads(void) {
    block_own();
    in_both(looks_and_sends);
    pthread_join(start_on_stack_of_its_own(looks_and_sends, NULL), NULL);
}

// --- handlers that end the thread ----------------------------------------------------------------

enum { k_first_jump = 13 };
static int s_way;

// The mask that comes back lets in what has come meanwhile.
static void unblock_by_jump(void (*jump)(struct __jmp_buf_tag*, int)) {
    sigjmp_buf target;
    unblock_own();
    if (sigsetjmp(target, 1) != 0) return;
    block_by_mask();
    raise(SIGUSR1);
    jump(target, 1);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void* is_ended_in_call(void* unused) {
    sigset_t const set = own();
    union sigval value;
    memset(&value, 0, sizeof value);
    if (s_way >= 4 && s_way < k_first_jump) unblock_own();
    atomic_store(&s_ready, 1);
    for (;;) {
        switch (s_way) {
            case 0: pthread_sigmask(SIG_UNBLOCK, &set, NULL); break;
            case 1: sigprocmask(SIG_UNBLOCK, &set, NULL); break;
            case 2: sigrelse(SIGUSR1); break;
            case 3: sigsetmask(0); break;
            case 4: siggetmask(); break;
            case 5: sighold(SIGUSR2); break;
            case 6: sigblock(0); break;
            case 7: raise(SIGUSR1); break;
            case 8: pthread_kill(pthread_self(), SIGUSR1); break;
            case 9: pthread_sigqueue(pthread_self(), SIGUSR1, value); break;
            case 10: kill(getpid(), SIGUSR1); break;
            case 11: sigqueue(getpid(), SIGUSR1, value); break;
            case 12: sigset(SIGUSR2, SIG_HOLD); break;
            case k_first_jump: unblock_by_jump(siglongjmp); break;
            case k_first_jump + 1: unblock_by_jump(longjmp); break;
            default: unblock_by_jump(_longjmp); break;
        }
    }
    return unused;
}
#pragma GCC diagnostic pop

static void* exits_after_main(void* unused) {
    (void)unused;
    exit(pthread_join(s_main, NULL) == 0 ? 7 : 1);
}
static int end_of_main_that_jumps(void) {
    pid_t const child = fork();
    if (child != 0) return end_of(child);
    pthread_t other;
    s_main = pthread_self();
    pthread_create(&other, NULL, exits_after_main, NULL);
    unblock_by_jump(siglongjmp);
    _exit(2);
}

static void end_callers(void) {
    for (s_way = 0; s_way != k_first_jump + 3; ++s_way) {
        pthread_t t;
        atomic_store(&s_ready, 0);
        pthread_create(&t, NULL, is_ended_in_call, NULL);
        while (atomic_load(&s_ready) == 0) sched_yield();
        if (s_way < 7 || s_way == 12) pthread_kill(t, SIGUSR1);
        pthread_join(t, NULL);
    }
    SHOW(atomic_load(&s_handled));
}

static void cancel_caller(int number) {
    count_one(number);
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

void ends_in_calls_of_signals(void) {
    block_own();
    handle_by(end_caller, SIGUSR1, 0);
    end_callers();
    handle_by(cancel_caller, SIGUSR1, 0);
    end_callers();
    handle_by(end_caller, SIGUSR1, 0);
    SHOW(end_of_main_that_jumps());
}

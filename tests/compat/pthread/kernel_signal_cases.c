// SPDX-License-Identifier: Apache-2.0
// Cases of signals that the kernel delivers wherever a thread is, also within the thread library:
// those of profilers and of faults.
#define _GNU_SOURCE
#include "cases.h"
#include "handlers.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int s_handled, s_goes_on;

static void mask(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    if (pthread_sigmask(how, &set, NULL) != 0) abort();
}

// --- handlers that wake threads ------------------------------------------------------------------

enum { k_waiters = 3 };
static sem_t s_posts[k_waiters];

static void post_all(int number) {
    (void)number;
    atomic_fetch_add(&s_handled, 1);
    for (int k = 0; k != k_waiters; ++k) sem_post(&s_posts[k]);
}

static void* takes_posts(void* semaphore) {
    while (atomic_load(&s_goes_on) != 0) sem_wait(semaphore);
    return NULL;
}
static void* yields(void* unused) {
    while (atomic_load(&s_goes_on) != 0) sched_yield();
    return unused;
}
static void* makes_threads(void* unused) {
    while (atomic_load(&s_goes_on) != 0) in_thread(add_own, NULL);
    return unused;
}
static void* waits_for_own(void* unused) {
    sem_t own;
    sem_init(&own, 0, 0);
    while (atomic_load(&s_goes_on) != 0) {
        sem_post(&own);
        sem_wait(&own);
        usleep(1);
    }
    return unused;
}

static void send_to_parent(int number) {
    for (int k = 0; k != 4000; ++k) {
        kill(getppid(), number);
        usleep(k % 4 == 0 ? 60 : 0);
    }
    _exit(0);
}

// The calls that are interrupted may be those by which threads wait, are woken, begin and end.
static void handle_anywhere(void (*handler)(int), int number, int flags) {
    enum { k_others = 4 };
    static void* (*const k_others_do[k_others])(void*) = {yields, makes_threads, waits_for_own,
                                                          yields};
    pthread_t waiters[k_waiters], others[k_others];
    atomic_store(&s_handled, 0);
    atomic_store(&s_goes_on, 1);
    handle_by(handler, number, flags);
    for (int k = 0; k != k_waiters; ++k) {
        sem_init(&s_posts[k], 0, 0);
        pthread_create(&waiters[k], NULL, takes_posts, &s_posts[k]);
    }
    for (int k = 0; k != k_others; ++k) pthread_create(&others[k], NULL, k_others_do[k], NULL);
    mask(SIG_BLOCK, number); // others get it
    pid_t const child = fork();
    if (child == 0) send_to_parent(number);
    SHOW(end_of(child));
    atomic_store(&s_goes_on, 0);
    for (int k = 0; k != k_others; ++k) pthread_join(others[k], NULL);
    for (int k = 0; k != k_waiters; ++k) sem_post(&s_posts[k]);
    for (int k = 0; k != k_waiters; ++k) pthread_join(waiters[k], NULL);
    mask(SIG_UNBLOCK, number);
    SHOW(atomic_load(&s_handled) != 0);
    signal(number, SIG_DFL);
}

void posts_from_anywhere(void) {
    handle_anywhere(post_all, SIGPROF, SA_RESTART);
    handle_anywhere(post_all, SIGSEGV, SA_RESTART);
    handle_anywhere(post_all, SIGPROF, SA_RESTART | SA_NODEFER);
}

// --- handlers that signal their own thread -------------------------------------------------------

static atomic_int s_own;
static void count_own(int number) {
    (void)number;
    atomic_fetch_add(&s_own, 1);
}

static void post_and_signal_itself(int number) {
    post_all(number);
    raise(SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    mask(SIG_BLOCK, SIGUSR2);
    mask(SIG_UNBLOCK, SIGUSR2);
    if (write(-1, "", 0) == 0) abort();
    sched_yield();
}

void raises_from_anywhere(void) {
    handle_by(count_own, SIGUSR1, SA_RESTART);
    handle_anywhere(post_and_signal_itself, SIGPROF, SA_RESTART);
    handle_anywhere(post_and_signal_itself, SIGSEGV, SA_RESTART);
    SHOW(atomic_load(&s_own) != 0);
}

// --- what the program says of them ---------------------------------------------------------------

enum { k_own_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART };
static int s_depth, s_again;

static void note_call(int number) {
    printf("signal %d", number);
    printf(", depth %d\n", s_depth++);
    if (s_again-- > 0) raise(number);
    --s_depth;
}
static void note_call_and_more(int number, siginfo_t* about, void* context) {
    printf("signal %d", about->si_signo);
    printf(", from itself: %d", about->si_pid == getpid());
    printf(", context: %d\n", context != NULL && number == about->si_signo);
}

static void show_action(int number) {
    struct sigaction now;
    SHOW(sigaction(number, NULL, &now));
    SHOW(now.sa_handler == SIG_DFL);
    SHOW(now.sa_handler == note_call);
    SHOW(now.sa_sigaction == note_call_and_more);
    SHOW((now.sa_flags & k_own_flags) == k_own_flags);
    SHOW(now.sa_flags & SA_SIGINFO);
    SHOW(now.sa_flags & SA_NODEFER);
    SHOW(sigismember(&now.sa_mask, SIGUSR2));
    SHOW(sigismember(&now.sa_mask, SIGABRT));
}

static void* sends_itself(void* number) {
    s_again = 1;
    raise((int)(intptr_t)number);
    return NULL;
}
static void send_in_both(int number) {
    in_thread(sends_itself, (void*)(intptr_t)number);
    sends_itself((void*)(intptr_t)number);
}

static void change_actions(int number) {
    struct sigaction more, before;
    show_action(number); // of before the first thread
    send_in_both(number);
    memset(&more, 0, sizeof more);
    more.sa_sigaction = note_call_and_more;
    more.sa_flags = k_own_flags;
    sigaddset(&more.sa_mask, SIGUSR2);
    SHOW(sigaction(number, &more, &before));
    SHOW(before.sa_handler == note_call);
    SHOW(before.sa_flags & SA_SIGINFO);
    show_action(number);
    send_in_both(number);
    handle_by(note_call, number, SA_NODEFER);
    show_action(number);
    send_in_both(number); // the handler interrupts itself
    handle_by(note_call, number, (int)SA_RESETHAND);
    s_again = 0;
    raise(number);
    show_action(number);
    SHOW(signal(number, note_call) == SIG_DFL);
    SHOW(signal(number, SIG_IGN) == note_call);
    sends_itself((void*)(intptr_t)number);
    SHOW(signal(number, SIG_DFL) == SIG_IGN);
}

// A child has what its parent had, and what it changes is its own.
static void change_in_children(int number) {
    handle_by(note_call, number, SA_NODEFER);
    fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        show_action(number);
        send_in_both(number);
        signal(number, SIG_DFL);
        fflush(stdout);
        raise(number);
        _exit(1);
    }
    SHOW(end_of(child) == -number);
    show_action(number);
    sends_itself((void*)(intptr_t)number);
}

void actions_of_kernels_signals(void) {
    static int const k_of_kernel[] = {SIGPROF, SIGSEGV, SIGSYS};
    for (int k = 0; k != 3; ++k) handle_by(note_call, k_of_kernel[k], SA_RESTART);
    for (int k = 0; k != 3; ++k) change_actions(k_of_kernel[k]);
    change_in_children(SIGPROF);
    change_in_children(SIGBUS);
}

// --- handlers that jump out ----------------------------------------------------------------------

static _Thread_local sigjmp_buf t_back;
static void jump_back(int number) { siglongjmp(t_back, number); }

static void* faults_and_wakes(void* other) {
    char volatile* volatile const nowhere = (char volatile*)8;
    volatile int caught = 0;
    if (sigsetjmp(t_back, 1) != 0) {
        ++caught;
        sem_post(other); // whoever waits is woken as ever
    }
    if (caught % 2 == 1) raise(SIGSEGV);
    if (caught < 200) *nowhere = 1;
    SHOW(caught);
    return other;
}

void jumps_of_kernels_signals(void) {
    sem_t taken;
    sem_init(&taken, 0, 0);
    handle_by(jump_back, SIGSEGV, 0);
    for (int k = 0; k != 2; ++k) {
        pthread_t t;
        pthread_create(&t, NULL, faults_and_wakes, &taken);
        for (int n = 0; n != 200; ++n) sem_wait(&taken);
        pthread_join(t, NULL);
    }
    faults_and_wakes(&taken);
}

// --- handlers that jump within themselves --------------------------------------------------------

static _Thread_local sigjmp_buf* t_probe;
static void leave_probe(int number) { siglongjmp(*t_probe, number); }

// Whether the address may not be read.
static int is_refused(char const volatile* address, int saves_mask) {
    sigjmp_buf here;
    sigjmp_buf* volatile const outer = t_probe;
    t_probe = &here;
    int const signal = sigsetjmp(here, saves_mask);
    if (signal == 0) (void)*address;
    t_probe = outer;
    return signal == SIGSEGV;
}

static void probe_and_post(int number) {
    char const volatile* volatile const nowhere = (char const volatile*)8;
    if (!is_refused(nowhere, 1)) abort();
    post_all(number);
    if (!is_refused(nowhere, 0)) abort();
    post_all(number);
}

void posts_after_jumps_within(void) {
    handle_by(leave_probe, SIGSEGV, SA_NODEFER);
    handle_anywhere(probe_and_post, SIGPROF, SA_RESTART);
}

static _Thread_local sigjmp_buf t_out;
static void probe_and_jump_out(int number) {
    probe_and_post(number);
    siglongjmp(t_out, 1);
}

// Afterwards a signal of one's own is handled at once, as outside of handlers.
static int is_handled_at_once(void) {
    int const before = atomic_load(&s_own);
    raise(SIGUSR1);
    return atomic_load(&s_own) == before + 1;
}

static void* jumps_out(void* saves_mask) {
    for (volatile int k = 0; k != 3; ++k) {
        if (sigsetjmp(t_out, saves_mask != NULL) == 0) raise(SIGPROF);
        SHOW(is_handled_at_once());
    }
    return saves_mask;
}

void jumps_within_and_out(void) {
    int some;
    handle_by(count_own, SIGUSR1, SA_RESTART);
    handle_by(leave_probe, SIGSEGV, SA_NODEFER);
    handle_by(probe_and_jump_out, SIGPROF, SA_NODEFER);
    for (int k = 0; k != k_waiters; ++k) sem_init(&s_posts[k], 0, 0);
    in_both(jumps_out);
    in_thread(jumps_out, &some);
    jumps_out(&some);
}

// --- handlers of children of vfork ---------------------------------------------------------------

static void end_process(int number) { _exit(number == SIGPROF ? 7 : 8); }

static void* ends_children(void* unused) {
    pid_t const child = vfork();
    if (child == 0) {
        raise(SIGPROF);
        _exit(1);
    }
    SHOW(end_of(child));
    SHOW(is_handled_at_once());
    return unused;
}

void ends_of_children_in_handlers(void) {
    handle_by(count_own, SIGUSR1, SA_RESTART);
    handle_by(end_process, SIGPROF, 0);
    in_both(ends_children);
}

// --- handlers that wake some of those who wait for a word ----------------------------------------

static atomic_int s_word, s_is_for[2];

static void wake_second(int number) {
    (void)number;
    syscall(SYS_futex, &s_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 2);
}

static void* waits_for_its_bit(void* index) {
    intptr_t const k = (intptr_t)index;
    for (;;) {
        int const seen = atomic_load(&s_word);
        if (atomic_load(&s_is_for[k]) != 0) return NULL;
        syscall(SYS_futex, &s_word, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL, 1 << k);
    }
}

static void allow(int k) {
    atomic_store(&s_is_for[k], 1);
    atomic_fetch_add(&s_word, 1);
}

// Both are given the time to wait, the other one first.
void wakes_of_some_by_handlers(void) {
    pthread_t waiters[2];
    handle_by(wake_second, SIGPROF, SA_RESTART);
    for (intptr_t k = 0; k != 2; ++k) {
        pthread_create(&waiters[k], NULL, waits_for_its_bit, (void*)k);
        usleep(50000);
    }
    allow(1);
    raise(SIGPROF);
    SHOW(pthread_join(waiters[1], NULL));
    allow(0);
    syscall(SYS_futex, &s_word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    SHOW(pthread_join(waiters[0], NULL));
}

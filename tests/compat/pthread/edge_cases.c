// SPDX-License-Identifier: Apache-2.0
// Cases at the edges of calls: sets that are shorter than an fd_set, reads of nothing, messages in
// parts, signals that are ignored unless somebody waits for them, handlers of forks that lock.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define SHOW_ERRNO(expression)                                                                     \
    do {                                                                                           \
        errno = 0;                                                                                 \
        int const result = (int)(expression);                                                      \
        printf("%s: %d, %s\n", #expression, result, errno == 0 ? "no error" : strerror(errno));    \
    } while (0)

// --- descriptors ---------------------------------------------------------------------------------

// So late that the call waits, and other memory may have changed meanwhile.
static void* writes_soon(void* number) {
    usleep(20000);
    if (write(*(int const*)number, "x", 1) != 1) abort();
    return NULL;
}

// The kernel looks at as many whole words of a set as it takes for the descriptors.
static void select_with_short_set(void) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    long const page = sysconf(_SC_PAGESIZE);
    char* const pages =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, (size_t)page, PROT_NONE) != 0) abort();
    unsigned long* const set = (unsigned long*)(void*)(pages + page) - 1;
    *set = 1UL << ends[0];
    pthread_t t;
    pthread_create(&t, NULL, writes_soon, &ends[1]);
    SHOW_ERRNO(select(ends[0] + 1, (fd_set*)(void*)set, NULL, NULL, NULL));
    SHOW(*set == 1UL << ends[0]);
    pthread_join(t, NULL);
    munmap(pages, 2 * (size_t)page);
    close(ends[0]);
    close(ends[1]);
}

static void reads_of_nothing(void) {
    int ends[2];
    char byte;
    struct iovec const none[2] = {{&byte, 0}, {&byte, 0}};
    if (pipe(ends) != 0) abort();
    SHOW_ERRNO(read(ends[0], &byte, 0));
    SHOW_ERRNO(readv(ends[0], none, 2));
    close(ends[0]);
    close(ends[1]);
}

static void errors_that_are_not_there(void) {
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct mmsghdr several = {.msg_hdr = message};
    int const number = socket(AF_INET, SOCK_DGRAM, 0);
    SHOW_ERRNO(recv(number, &byte, 1, MSG_ERRQUEUE));
    SHOW_ERRNO(recvmsg(number, &message, MSG_ERRQUEUE));
    SHOW_ERRNO(recvmmsg(number, &several, 1, MSG_ERRQUEUE, NULL));
    close(number);
}

static void messages_in_parts(void) {
    int ends[2];
    static char all[20000];
    struct iovec parts[3] = {{all, 1}, {all, 9000}, {all, 10}};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) abort();
    SHOW_ERRNO(writev(ends[0], parts, 3));
    SHOW_ERRNO(write(ends[0], all, 9000));
    SHOW_ERRNO(writev(ends[0], parts, 3));
    for (int k = 0; k != 3; ++k) SHOW_ERRNO(read(ends[1], all, sizeof all));
    close(ends[0]);
    close(ends[1]);
}

// A queue of connections that is full.
static void connect_in_vain(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tulle-edge-%d", (int)getpid());
    int const server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(server, (struct sockaddr*)&name, sizeof name) != 0 || listen(server, 0) != 0) abort();
    int client[2];
    for (int k = 0; k != 2; ++k) client[k] = socket(AF_UNIX, SOCK_STREAM, 0);
    SHOW_ERRNO(connect(client[0], (struct sockaddr*)&name, sizeof name));
    struct timeval const soon = {0, 30000};
    setsockopt(client[1], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
    SHOW_ERRNO(connect(client[1], (struct sockaddr*)&name, sizeof name));
    for (int k = 0; k != 2; ++k) close(client[k]);
    close(server);
}

// Nobody types.
static void terminal_without_least(void) {
    struct termios how;
    char byte;
    int const terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) abort();
    int const own = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (tcgetattr(own, &how) != 0) abort();
    cfmakeraw(&how);
    for (cc_t tenths = 0; tenths != 2; ++tenths) {
        how.c_cc[VMIN] = 0;
        how.c_cc[VTIME] = tenths;
        if (tcsetattr(own, TCSANOW, &how) != 0) abort();
        SHOW_ERRNO(read(own, &byte, 1));
    }
    close(own);
    close(terminal);
}

// The system's memory, and nobody's.
static void polls_of_no_lists(void) {
    static struct pollfd* volatile const lists[] = {(void*)(intptr_t)-4096, (void*)64, NULL};
    for (int k = 0; k != 3; ++k) SHOW_ERRNO(poll(lists[k], 1, 1));
}

static void* at_edges(void* unused) {
    select_with_short_set();
    reads_of_nothing();
    errors_that_are_not_there();
    messages_in_parts();
    connect_in_vain();
    terminal_without_least();
    polls_of_no_lists();
    return unused;
}

void edges_of_descriptors(void) { in_both(at_edges); }

// --- signals -------------------------------------------------------------------------------------

static atomic_int s_handled;
static atomic_int s_is_over;
static uint32_t s_word;

static void count(int signal) {
    (void)signal;
    atomic_fetch_add(&s_handled, 1);
}
static void handle(int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, NULL);
    atomic_store(&s_handled, 0);
}

static void* waits_for_word(void* time) {
    long const result = syscall(SYS_futex, &s_word, FUTEX_WAIT_PRIVATE, 0, time, NULL, 0);
    printf("wait: %ld, %s\n", result, result == 0 ? "woken" : strerror(errno));
    atomic_store(&s_is_over, 1);
    return NULL;
}
static void interrupt_wait(int flags, struct timespec* time) {
    pthread_t t;
    handle(flags);
    atomic_store(&s_is_over, 0);
    pthread_create(&t, NULL, waits_for_word, time);
    bool const goes_on = (flags & SA_RESTART) != 0 && time == NULL;
    for (; !atomic_load(&s_is_over); usleep(10000)) {
        bool const is_enough = goes_on && atomic_load(&s_handled) > 2; // some may come too early
        if (!is_enough) pthread_kill(t, SIGUSR1);
        // One is woken, though none is asked for.
        if (is_enough) syscall(SYS_futex, &s_word, FUTEX_WAKE_PRIVATE, 0, NULL, NULL, 0);
    }
    pthread_join(t, NULL);
    SHOW(atomic_load(&s_handled) != 0);
}

// --- a word is woken, and another one changed and perhaps woken ----------------------------------

static uint32_t s_pair[2];
static atomic_int s_woken[2];

static long wake_pair(unsigned most, unsigned long most_of_second, unsigned change) {
    return syscall(SYS_futex, &s_pair[0], FUTEX_WAKE_OP_PRIVATE, most, most_of_second, &s_pair[1],
                   change);
}
static void show_change(uint32_t before, int operation, int operand, int comparison, int compared) {
    s_pair[1] = before;
    errno = 0;
    long const result =
        wake_pair(1, 1, (unsigned)FUTEX_OP(operation, operand, comparison, compared));
    printf("%d %d %d %d: %ld, %s, %x\n", operation, operand, comparison, compared, result,
           errno == 0 ? "no error" : strerror(errno), s_pair[1]);
}
static void show_changes(void) {
    for (int operation = 0; operation != 8; ++operation) {
        show_change(0xf0f0, operation, 0x3c, FUTEX_OP_CMP_EQ, 0);
        show_change(7, operation, -2, FUTEX_OP_CMP_EQ, 0);
        show_change(1, operation | FUTEX_OP_OPARG_SHIFT, 31, FUTEX_OP_CMP_EQ, 0);
        show_change(1, operation | FUTEX_OP_OPARG_SHIFT, 3, FUTEX_OP_CMP_EQ, 0);
    }
    for (int comparison = 0; comparison != 16; ++comparison)
        show_change(0, FUTEX_OP_SET, 0, comparison, 0);
}
static void* waits_for_one(void* which) {
    intptr_t const k = (intptr_t)which;
    while (syscall(SYS_futex, &s_pair[k], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != 0) {}
    atomic_fetch_add(&s_woken[k], 1);
    return NULL;
}
// All four wait at one time or another. The second word stays 0, and those that wait there are not
// woken with the others.
static void wake_first_only(int comparison, int compared) {
    pthread_t t[4];
    for (intptr_t k = 0; k != 4; ++k) pthread_create(&t[k], NULL, waits_for_one, (void*)(k % 2));
    unsigned const change = (unsigned)FUTEX_OP(FUTEX_OP_ADD, 0, comparison, compared);
    long woken = 0;
    while (woken < 2) woken += wake_pair(1, 1, change);
    pthread_join(t[0], NULL);
    pthread_join(t[2], NULL);
    SHOW(atomic_load(&s_woken[1]));
    while (woken < 4) woken += syscall(SYS_futex, &s_pair[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(t[1], NULL);
    pthread_join(t[3], NULL);
    SHOW(atomic_load(&s_woken[0]));
}
static void* wakes_pairs(void* unused) {
    show_changes();
    s_pair[1] = 0;
    wake_first_only(FUTEX_OP_CMP_GT, 0);
    wake_first_only(FUTEX_OP_CMP_LE, -1);
    return unused;
}
static void* wakes_both(void* unused) {
    atomic_store(&s_woken[0], 0);
    atomic_store(&s_woken[1], 0);
    pthread_t t[4];
    for (intptr_t k = 0; k != 4; ++k) pthread_create(&t[k], NULL, waits_for_one, (void*)(k % 2));
    unsigned const change = (unsigned)FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, -1);
    for (long woken = 0; woken != 4;) woken += wake_pair(1, 1, change);
    for (int k = 0; k != 4; ++k) pthread_join(t[k], NULL);
    SHOW(atomic_load(&s_woken[0]));
    SHOW(atomic_load(&s_woken[1]));
    return unused;
}

void changed_words(void) {
    in_both(wakes_pairs);
    in_both(wakes_both);
}

// --- newer calls on words, which old systems do not have -----------------------------------------

enum {
    k_futex_waitv = 449,
    k_futex_wake = 454,
    k_futex_wait = 455,
    k_futex_requeue = 456,
    k_private_32_bits = 2 | 128
};
struct word_of_several {
    uint64_t value, at;
    uint32_t flags, unused;
};
static atomic_int s_wait_is_over;

static long wait_by_newer_call(int number) {
    struct timespec const until = in_ms_of(CLOCK_MONOTONIC, 5000);
    struct word_of_several const both[2] = {{0, (uintptr_t)&s_pair[0], k_private_32_bits, 0},
                                            {0, (uintptr_t)&s_pair[1], k_private_32_bits, 0}};
    if (number == k_futex_waitv) return syscall(number, both, 2, 0, &until, CLOCK_MONOTONIC);
    return syscall(number, &s_pair[1], 0UL, 0xffffffffUL, k_private_32_bits, &until,
                   CLOCK_MONOTONIC);
}
static void* waits_by_newer_call(void* number) {
    long const woken = wait_by_newer_call((int)(intptr_t)number);
    SHOW(woken >= 0 || errno == ENOSYS);
    atomic_store(&s_wait_is_over, 1);
    return NULL;
}
static void* wakes_who_waits_so(void* number) {
    pthread_t t;
    atomic_store(&s_wait_is_over, 0);
    pthread_create(&t, NULL, waits_by_newer_call, number);
    for (long woken = 0; woken == 0 && atomic_load(&s_wait_is_over) == 0; usleep(1000))
        woken = syscall(SYS_futex, &s_pair[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(t, NULL);
    return number;
}
static void* wakes_by_newer_call(void* unused) {
    pthread_t t;
    long woken = 0;
    pthread_create(&t, NULL, waits_for_one, (void*)1);
    for (int k = 0; k != 5000 && woken == 0; ++k, usleep(1000))
        woken = syscall(k_futex_wake, &s_pair[1], 0xffffffffUL, 1, k_private_32_bits);
    SHOW(woken == 1 || errno == ENOSYS);
    while (woken != 1) woken = syscall(SYS_futex, &s_pair[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(t, NULL);
    return unused;
}

// From the first word to the second one, or woken: at the end all have been woken.
static long move_waiters(int number) {
    struct word_of_several const both[2] = {{0, (uintptr_t)&s_pair[0], k_private_32_bits, 0},
                                            {0, (uintptr_t)&s_pair[1], k_private_32_bits, 0}};
    return number == k_futex_requeue
               ? syscall(number, both, 0, 1, 2)
               : syscall(SYS_futex, &s_pair[0], FUTEX_CMP_REQUEUE_PRIVATE, 1, 2UL, &s_pair[1], 0);
}
static void* waits_for_first(void* number) {
    struct timespec const until = in_ms_of(CLOCK_MONOTONIC, 5000);
    if (number == NULL) return waits_for_one(NULL);
    if (syscall(k_futex_wait, &s_pair[0], 0UL, 0xffffffffUL, k_private_32_bits, &until,
                CLOCK_MONOTONIC) != 0 &&
        errno == ETIMEDOUT)
        puts("nobody has woken it");
    atomic_fetch_add(&s_woken[0], 1);
    return NULL;
}
static void move_all(int number, void* wait) {
    enum { k_threads = 3 };
    pthread_t t[k_threads];
    atomic_store(&s_woken[0], 0);
    for (int k = 0; k != k_threads; ++k) pthread_create(&t[k], NULL, waits_for_first, wait);
    for (int k = 0; k != 5000 && atomic_load(&s_woken[0]) != k_threads; ++k, usleep(1000)) {
        long const moved = move_waiters(number);
        if (moved < 0 && errno == ENOSYS) number = SYS_futex;
        syscall(SYS_futex, &s_pair[1], FUTEX_WAKE_PRIVATE, k_threads, NULL, NULL, 0);
    }
    SHOW(atomic_load(&s_woken[0]));
    syscall(SYS_futex, &s_pair[0], FUTEX_WAKE_PRIVATE, k_threads, NULL, NULL, 0);
    for (int k = 0; k != k_threads; ++k) pthread_join(t[k], NULL);
}
static void* moves_waiters(void* unused) {
    static char newer;
    struct word_of_several both[2] = {{7, (uintptr_t)&s_pair[0], k_private_32_bits, 0},
                                      {0, (uintptr_t)&s_pair[1], k_private_32_bits, 0}};
    SHOW(syscall(k_futex_requeue, both, 0, 1, 2) < 0 && (errno == EAGAIN || errno == ENOSYS));
    SHOW(syscall(k_futex_requeue, NULL, 0, 1, 2) < 0);
    move_all(k_futex_requeue, NULL);
    move_all(k_futex_requeue, &newer);
    move_all(SYS_futex, NULL);
    move_all(SYS_futex, &newer);
    return unused;
}

void newer_calls_on_words(void) {
    s_pair[0] = s_pair[1] = 0;
    wakes_who_waits_so((void*)k_futex_waitv);
    in_thread(wakes_who_waits_so, (void*)k_futex_waitv);
    in_thread(wakes_who_waits_so, (void*)k_futex_wait);
    in_both(wakes_by_newer_call);
    in_both(moves_waiters);
}

// Blocked by all, they stay until somebody asks, also while other threads are ready.
static void* idles(void* end) {
    while (atomic_load((atomic_int*)end) == 0) usleep(1000);
    return NULL;
}
static void await_what_is_ignored(void) {
    atomic_int end = 0;
    sigset_t some;
    siginfo_t about;
    struct timespec const long_enough = {20, 0};
    pthread_t t;
    sigemptyset(&some);
    sigaddset(&some, SIGCHLD);
    sigaddset(&some, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    pthread_create(&t, NULL, idles, &end);
    for (int round = 0; round != 3; ++round) {
        pid_t const child = fork();
        if (child == 0) _exit(7);
        SHOW(sigtimedwait(&some, &about, &long_enough) == SIGCHLD && about.si_pid == child);
        SHOW(end_of(child));
        kill(getpid(), SIGWINCH);
        SHOW(sigtimedwait(&some, &about, &long_enough) == SIGWINCH);
    }
    atomic_store(&end, 1);
    pthread_join(t, NULL);
}

// In a child that a thread has forked its mask is the kernel's as well.
static void* forks_and_blocks(void* unused) {
    pid_t const child = fork();
    if (child == 0) {
        sigset_t one, pending;
        sigemptyset(&one);
        sigaddset(&one, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &one, NULL);
        kill(getpid(), SIGTERM);
        sigpending(&pending);
        if (sigismember(&pending, SIGTERM) != 1) _exit(1);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        _exit(2);
    }
    SHOW(end_of(child));
    return unused;
}

void edges_of_signals(void) {
    await_what_is_ignored();
    struct timespec long_enough = {20, 0};
    interrupt_wait(0, NULL);
    interrupt_wait(SA_RESTART, NULL);
    interrupt_wait(SA_RESTART, &long_enough);
    in_thread(forks_and_blocks, NULL);
}

// Handlers on main wake threads, and main itself, wherever they interrupt it.
static sem_t s_ours, s_theirs;
static atomic_long s_posted;
static void post(int signal) {
    (void)signal;
    atomic_fetch_add(&s_posted, 1);
    sem_post(&s_ours);
    sem_post(&s_theirs);
}
static void* takes_posts(void* end) {
    while (atomic_load((atomic_int*)end) == 0) sem_wait(&s_theirs);
    return NULL;
}
void posts_of_handlers(void) {
    enum { k_posts = 2000 };
    struct sigaction action;
    struct itimerval const often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    atomic_int end = 0;
    pthread_t t;
    sem_init(&s_ours, 0, 0);
    sem_init(&s_theirs, 0, 0);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    pthread_create(&t, NULL, takes_posts, &end);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = post;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int taken = 0; taken != k_posts; taken += sem_wait(&s_ours) == 0) {}
    setitimer(ITIMER_REAL, &never, NULL);
    SHOW(atomic_load(&s_posted) >= k_posts);
    atomic_store(&end, 1);
    sem_post(&s_theirs);
    pthread_join(t, NULL);
}

// --- the end of a process ------------------------------------------------------------------------

// A thread whose stack is the program's own is one of the C library.
static void* ends_late(void* unused) {
    usleep(100000); // main has ended long since
    puts("late");
    return unused;
}
void last_of_all(void) {
    enum { k_size = 1 << 18 };
    pthread_attr_t own;
    pthread_t t;
    void* const memory =
        mmap(NULL, k_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&own);
    if (memory == MAP_FAILED || pthread_attr_setstack(&own, memory, k_size) != 0) abort();
    in_thread(add_own, NULL);
    puts("main ends");
    if (pthread_create(&t, &own, ends_late, NULL) != 0) abort();
    pthread_exit(NULL);
}

// --- handlers of forks ---------------------------------------------------------------------------

static pthread_mutex_t s_lock = PTHREAD_MUTEX_INITIALIZER;
static void lock(void) { pthread_mutex_lock(&s_lock); }
static void unlock(void) { pthread_mutex_unlock(&s_lock); }

static void* holds_and_sleeps(void* end) {
    while (atomic_load((atomic_int*)end) == 0) {
        lock();
        usleep(100); // others wait, also for fork
        unlock();
    }
    return NULL;
}
static void fork_often(void) {
    int ended = 0;
    for (int k = 0; k != 30; ++k) {
        pid_t const child = fork();
        if (child == 0) {
            lock();
            usleep(1); // timers are there in the child, too
            unlock();
            _exit(0);
        }
        ended += end_of(child) == 0;
    }
    SHOW(ended);
}
static void* forks_often(void* unused) {
    fork_often();
    return unused;
}

void forks_with_locks(void) {
    atomic_int end = 0;
    pthread_t t[2];
    pthread_atfork(lock, unlock, unlock);
    for (int k = 0; k != 2; ++k) pthread_create(&t[k], NULL, holds_and_sleeps, &end);
    fork_often();
    in_thread(forks_often, NULL);
    atomic_store(&end, 1);
    for (int k = 0; k != 2; ++k) pthread_join(t[k], NULL);
}

// --- users and groups are those of the whole process ---------------------------------------------

static atomic_int s_goes_on;

static void* computes(void* unused) {
    (void)unused;
    while (!atomic_load(&s_goes_on)) {}
    return (void*)syscall(SYS_geteuid);
}
static void* waits(void* unused) {
    (void)unused;
    while (!atomic_load(&s_goes_on)) usleep(1000);
    return (void*)syscall(SYS_geteuid);
}
static void* changes(void* unused) {
    SHOW(setegid(getegid() == 0 ? 65534 : getegid()));
    SHOW(seteuid(geteuid() == 0 ? 65534 : geteuid()));
    return unused;
}

// Root becomes nobody, and others stay who they are.
void identities(void) {
    pthread_t threads[6];
    for (int k = 0; k < 6; ++k)
        pthread_create(&threads[k], NULL, k % 3 == 0 ? &computes : &waits, NULL);
    usleep(10000);
    in_both(&changes);
    atomic_store(&s_goes_on, 1);
    for (int k = 0; k < 6; ++k) {
        void* seen;
        pthread_join(threads[k], &seen);
        SHOW((uid_t)(intptr_t)seen == geteuid());
    }
    SHOW(seteuid(getuid()));
    SHOW((uid_t)(intptr_t)in_thread(&waits, NULL) == getuid());
}

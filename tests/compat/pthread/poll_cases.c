// SPDX-License-Identifier: Apache-2.0
// Cases of threads that ask for descriptors in turn, and of numbers that were sockets.
#define _GNU_SOURCE
#include "cases.h"
#include "filters.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOW_ERRNO(expression)                                                                     \
    do {                                                                                           \
        errno = 0;                                                                                 \
        int const result = (int)(expression);                                                      \
        printf("%s: %d, %s\n", #expression, result, errno == 0 ? "no error" : strerror(errno));    \
    } while (0)

#ifndef SYS_poll // an architecture on which the C library's poll is made of it
#define SYS_poll SYS_ppoll
#endif

static int s_ends[2], s_never[2];

// --- answers come without a delay ----------------------------------------------------------------

typedef void asking(int number);

static void by_poll_of_one(int number) {
    struct pollfd asked = {number, POLLIN, 0};
    if (poll(&asked, 1, -1) != 1) abort();
}
static void by_poll_of_two(int number) {
    struct pollfd asked[2] = {{s_never[0], POLLIN, 0}, {number, POLLIN, 0}};
    if (poll(asked, 2, 100000) != 1) abort();
}
static void by_select(int number) {
    fd_set asked;
    FD_ZERO(&asked);
    FD_SET(number, &asked);
    FD_SET(s_never[0], &asked);
    int const most = number > s_never[0] ? number : s_never[0];
    if (select(most + 1, &asked, NULL, NULL, NULL) != 1) abort();
}
static void by_new_epoll(int number) {
    int const all = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(all, EPOLL_CTL_ADD, number, &event) != 0) abort();
    if (epoll_wait(all, &event, 1, -1) != 1) abort();
    close(all);
}

static asking* s_ask;
enum { k_rounds = 20, k_batches = 20 };

static void take(int number) {
    char byte;
    s_ask(number);
    if (read(number, &byte, 1) != 1) abort();
}
static void* answers(void* unused) {
    for (int k = 0; k != k_rounds * k_batches; ++k) {
        take(s_ends[1]);
        if (write(s_ends[1], "a", 1) != 1) abort();
    }
    return unused;
}
static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}
static double rounds_ms(void) {
    double const begin = now_ms();
    for (int k = 0; k != k_rounds; ++k) {
        if (write(s_ends[0], "q", 1) != 1) abort();
        take(s_ends[0]);
    }
    return now_ms() - begin;
}
// Whether the fastest of some batches takes less than half a millisecond for each wait, of which
// there are two in a round: most of that is left for a busy machine.
static void* asks(void* unused) {
    pthread_t other;
    double least = 1e9;
    pthread_create(&other, NULL, &answers, NULL);
    for (int k = 0; k != k_batches; ++k) {
        double const took = rounds_ms();
        if (took < least) least = took;
    }
    pthread_join(other, NULL);
    SHOW(least < k_rounds);
    return unused;
}

void asked_in_turn(void) {
    asking* const ways[] = {&by_poll_of_one, &by_poll_of_two, &by_select, &by_new_epoll};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends) != 0 || pipe(s_never) != 0) abort();
    for (unsigned k = 0; k != sizeof ways / sizeof *ways; ++k) {
        s_ask = ways[k];
        in_thread(&asks, NULL);
    }
}

// --- many threads ask for one descriptor beside others -------------------------------------------

// More than the system lets epolls of a file be in another epoll.
enum { k_askers = 600 };

static void* waits_for_end(void* by_select_too) {
    struct pollfd asked[2] = {{s_never[0], POLLIN, 0}, {s_ends[0], POLLIN, 0}};
    if (by_select_too != NULL) by_select(s_ends[0]);
    return (void*)(intptr_t)(poll(asked, 2, -1) == 1 && asked[1].revents == POLLIN);
}
static void* ends_all(void* unused) {
    static pthread_t askers[k_askers];
    int told = 0;
    for (int k = 0; k != k_askers; ++k)
        if (pthread_create(&askers[k], NULL, &waits_for_end, k % 2 == 0 ? NULL : &told) != 0)
            abort();
    usleep(20000);
    if (write(s_ends[1], "e", 1) != 1) abort();
    for (int k = 0; k != k_askers; ++k) {
        void* was_told;
        pthread_join(askers[k], &was_told);
        told += was_told != NULL;
    }
    SHOW(told);
    return unused;
}

void asked_by_many(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_ends) != 0 || pipe(s_never) != 0) abort();
    in_thread(&ends_all, NULL);
}

// --- poll of one descriptor ----------------------------------------------------------------------

// The other thread waits by then. On a machine so busy that it does not, it finds the same.
static void be_late(void) { usleep(20000); }

static void* closes_late(void* number) {
    be_late();
    close((int)(long)number);
    return NULL;
}
static void* empties_late(void* number) {
    static char bytes[1 << 16];
    be_late();
    if (read((int)(long)number, bytes, sizeof bytes) <= 0) abort();
    return NULL;
}
// What it finds while another thread does something to the other end.
static void show_poll(int number, short events, void* (*other)(void*), int other_end) {
    pthread_t doer;
    struct pollfd asked = {number, events, 0};
    pthread_create(&doer, NULL, other, (void*)(long)other_end);
    SHOW_ERRNO(poll(&asked, 1, -1));
    printf("found: %x\n", (unsigned)asked.revents);
    pthread_join(doer, NULL);
}
static void fill(int number) {
    static char const bytes[4096];
    fcntl(number, F_SETFL, O_NONBLOCK);
    while (write(number, bytes, sizeof bytes) > 0) {}
}
static void* poll_one(void* unused) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    struct pollfd asked = {ends[0], POLLIN, 0};
    SHOW_ERRNO(poll(&asked, 1, 5));
    fill(ends[1]);
    show_poll(ends[1], POLLOUT, &empties_late, ends[0]);
    fill(ends[1]);
    show_poll(ends[1], POLLOUT, &closes_late, ends[0]);
    close(ends[1]);
    if (pipe(ends) != 0) abort();
    show_poll(ends[0], POLLIN, &closes_late, ends[1]);
    close(ends[0]);
    asked.fd = ends[0];
    SHOW_ERRNO(poll(&asked, 1, -1)); // it is closed
    printf("found: %x\n", (unsigned)asked.revents);
    return unused;
}

void polls_of_one(void) { in_both(&poll_one); }

// --- one of several is closed by another thread --------------------------------------------------

static void* closes_both_late(void* ends) {
    be_late();
    close(((int*)ends)[0]);
    close(((int*)ends)[1]);
    return NULL;
}
static void* shuts_and_closes_late(void* number) {
    be_late();
    shutdown((int)(long)number, SHUT_RDWR);
    close((int)(long)number);
    return NULL;
}
static void show_poll_of_two(int number, void* (*other)(void*), void* argument) {
    pthread_t doer;
    struct pollfd asked[] = {{-1, POLLIN, 0}, {number, POLLIN, 0}};
    pthread_create(&doer, NULL, other, argument);
    SHOW_ERRNO(poll(asked, 2, -1));
    SHOW(asked[1].revents != 0);
    pthread_join(doer, NULL);
}
static void show_select_of_two(int* ends, int never) {
    pthread_t doer;
    fd_set asked;
    FD_ZERO(&asked);
    FD_SET(ends[0], &asked);
    FD_SET(never, &asked);
    pthread_create(&doer, NULL, &closes_both_late, ends);
    SHOW_ERRNO(select((ends[0] > never ? ends[0] : never) + 1, &asked, NULL, NULL, NULL));
    SHOW(FD_ISSET(ends[0], &asked));
    SHOW(FD_ISSET(never, &asked));
    pthread_join(doer, NULL);
}
static void* wait_for_two(void* unused) {
    int ends[2], others[2];
    if (pipe(ends) != 0) abort();
    show_poll_of_two(ends[0], &closes_both_late, ends);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    show_poll_of_two(ends[0], &shuts_and_closes_late, (void*)(long)ends[0]);
    close(ends[1]);
    if (pipe(ends) != 0 || pipe(others) != 0) abort();
    show_select_of_two(ends, others[0]);
    close(others[0]);
    close(others[1]);
    return unused;
}

void closed_of_several(void) { in_both(&wait_for_two); }

// --- a number that was a socket ------------------------------------------------------------------

static void* writes_late(void* number) {
    be_late();
    if (write((int)(long)number, "late", 4) != 4) abort();
    return NULL;
}
// A read that waits, so that it is known what the number is.
static void show_late_read(int number, int other_end) {
    pthread_t writer;
    char bytes[8];
    pthread_create(&writer, NULL, &writes_late, (void*)(long)other_end);
    SHOW_ERRNO(read(number, bytes, sizeof bytes));
    pthread_join(writer, NULL);
}
static void show_as_pipe(int number) {
    int through[2];
    if (pipe(through) != 0 || dup2(through[0], number) != number) abort();
    show_late_read(number, through[1]);
    if (dup2(through[1], number) != number) abort();
    SHOW_ERRNO(write(number, "x", 1));
    close(through[0]);
    close(through[1]);
}
static void show_without_waits(int number, int other_end) {
    char bytes[8];
    fcntl(number, F_SETFL, O_NONBLOCK);
    SHOW_ERRNO(read(number, bytes, sizeof bytes));
    SHOW_ERRNO(write(other_end, "at once", 7));
    SHOW_ERRNO(read(number, bytes, sizeof bytes)); // though nothing has told of it yet
    SHOW_ERRNO(read(number, bytes, sizeof bytes));
    fcntl(number, F_SETFL, 0);
}
static void show_with_limit(int number) {
    char byte;
    struct timeval const time = {0, 5000};
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    SHOW_ERRNO(read(number, &byte, 1));
}
static void* drain(void* number) {
    static char bytes[1 << 12];
    long count = 0;
    for (ssize_t got = 0; (got = read((int)(long)number, bytes, sizeof bytes)) > 0;) count += got;
    return (void*)count;
}
// A write goes on until all has been taken.
static void show_long_write(int number, int other_end) {
    enum { k_bytes = 1 << 20 };
    static char const bytes[k_bytes];
    pthread_t reader;
    void* count = NULL;
    pthread_create(&reader, NULL, &drain, (void*)(long)other_end);
    SHOW_ERRNO(write(number, bytes, k_bytes));
    close(number);
    pthread_join(reader, &count);
    printf("drained: %ld\n", (long)count);
}
static void* was_socket(void* unused) {
    int ends[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    show_late_read(ends[0], ends[1]);
    show_without_waits(ends[0], ends[1]);
    show_with_limit(ends[0]);
    show_as_pipe(ends[0]);
    close(ends[0]);
    close(ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    show_late_read(ends[0], ends[1]);
    show_long_write(ends[0], ends[1]);
    SHOW_ERRNO(read(ends[0], &byte, 1)); // it is closed
    close(ends[1]);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) abort();
    show_late_read(ends[0], ends[1]);
    SHOW_ERRNO(write(ends[1], "", 0));
    SHOW_ERRNO(read(ends[0], &byte, 1)); // a message without bytes
    close(ends[0]);
    close(ends[1]);
    return unused;
}

void numbers_of_sockets(void) { in_both(&was_socket); }

// --- questions that do not wait make nothing to wait with ----------------------------------------

static void* ask_at_once(void* unused) {
    struct timespec const none = {0, 0};
    struct timeval left = {0, 0};
    fd_set set, other;
    int ends[2];
    if (pipe(ends) != 0) abort();
    // Where that is allowed, the process ends if the caller's OS thread makes an epoll.
    filter_call(SYS_epoll_create1, SECCOMP_RET_KILL_PROCESS);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    SHOW_ERRNO(select(ends[0] + 1, &set, NULL, NULL, &left));
    SHOW(FD_ISSET(ends[0], &set));
    FD_SET(ends[0], &set);
    other = set;
    SHOW_ERRNO(pselect(ends[0] + 1, &set, NULL, &other, &none, NULL));
    if (write(ends[1], "", 1) != 1) abort();
    FD_SET(ends[0], &set);
    SHOW_ERRNO(select(ends[0] + 1, &set, NULL, NULL, &left));
    SHOW(FD_ISSET(ends[0], &set));
    close(ends[0]);
    close(ends[1]);
    return unused;
}

void asked_at_once(void) { in_thread(&ask_at_once, NULL); }

// --- neither do waits for several ----------------------------------------------------------------

enum { k_several = 3 };
static int s_several[k_several][2];

static void* writes_one_late(void* k) {
    be_late();
    if (write(s_several[(long)k][1], "w", 1) != 1) abort();
    return NULL;
}
static void show_several(void* (*other)(void*), long which, int ms) {
    pthread_t doer;
    struct pollfd asked[k_several + 1] = {{-1, POLLIN, 0}};
    for (int k = 0; k != k_several; ++k) asked[k + 1] = (struct pollfd){s_several[k][0], POLLIN, 0};
    pthread_create(&doer, NULL, other, (void*)which);
    SHOW_ERRNO(poll(asked, k_several + 1, ms));
    for (int k = 0; k != k_several + 1; ++k) printf("found: %x\n", (unsigned)asked[k].revents);
    pthread_join(doer, NULL);
}
static void show_set(long which) {
    pthread_t doer;
    fd_set set;
    FD_ZERO(&set);
    for (int k = 0; k != k_several; ++k) FD_SET(s_several[k][0], &set);
    pthread_create(&doer, NULL, &writes_one_late, (void*)which);
    SHOW_ERRNO(select(s_several[k_several - 1][0] + 1, &set, NULL, NULL, NULL));
    for (int k = 0; k != k_several; ++k) SHOW(FD_ISSET(s_several[k][0], &set));
    pthread_join(doer, NULL);
}
static void take_one(int k) {
    char byte;
    if (read(s_several[k][0], &byte, 1) != 1) abort();
}
static void* end_now(void* unused) { return unused; }
static void* wait_for_several(void* unused) {
    for (int k = 0; k != k_several; ++k) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_several[k]) != 0) abort();
    }
    show_several(&end_now, 0, 1); // with what it takes to wait at all
    filter_call(SYS_epoll_create1, SECCOMP_RET_KILL_PROCESS);
    for (int k = 0; k != k_several; ++k) {
        show_several(&writes_one_late, k, -1);
        take_one(k);
        show_set(k);
        take_one(k);
    }
    int ends[2];
    if (pipe(ends) != 0) abort();
    fill(ends[1]);
    struct pollfd both[2] = {{ends[1], POLLOUT, 0}, {s_several[0][0], POLLIN, 0}};
    SHOW_ERRNO(poll(both, 2, 1));
    pthread_t doer;
    pthread_create(&doer, NULL, &empties_late, (void*)(long)ends[0]);
    SHOW_ERRNO(poll(both, 2, -1));
    printf("found: %x, %x\n", (unsigned)both[0].revents, (unsigned)both[1].revents);
    pthread_join(doer, NULL);
    return unused;
}

void waits_for_several(void) { in_thread(&wait_for_several, NULL); }

// --- what waits of different kinds know of each other -------------------------------------------

static double least_ms(double (*round)(void)) {
    double least = 1e9;
    for (int k = 0; k != 5; ++k) {
        double const took = round();
        if (took < least) least = took;
    }
    return least;
}

// To the end of a connection that has come with the last bytes, which were polled for.
static void* sends_the_last(void* socket) {
    be_late();
    if (send((int)(long)socket, "last", 4, MSG_MORE) != 4) abort();
    shutdown((int)(long)socket, SHUT_WR);
    return NULL;
}
static void connect_both(int* ends) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t size = sizeof any;
    int const listener = socket(AF_INET, SOCK_STREAM, 0);
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&any, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&any, &size) != 0 ||
        connect(ends[0], (struct sockaddr*)&any, size) != 0)
        abort();
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}
static double end_after_poll(void) {
    int ends[2];
    char bytes[16];
    pthread_t other;
    connect_both(ends);
    struct pollfd asked = {ends[0], POLLIN, 0};
    pthread_create(&other, NULL, &sends_the_last, (void*)(long)ends[1]);
    if (poll(&asked, 1, -1) != 1 || read(ends[0], bytes, sizeof bytes) != 4) abort();
    double const begin = now_ms();
    if (read(ends[0], bytes, sizeof bytes) != 0) abort();
    double const took = now_ms() - begin;
    pthread_join(other, NULL);
    close(ends[0]);
    close(ends[1]);
    return took;
}

// From a write to the end of a read, while another thread asks again and again for something else.
static atomic_int s_is_read;
static double s_read_at;
static void* watches_the_end(void* number) {
    struct timespec const soon = {0, 300000};
    while (atomic_load(&s_is_read) == 0) {
        struct pollfd asked = {(int)(long)number, POLLRDHUP, 0};
        ppoll(&asked, 1, &soon, NULL);
    }
    return NULL;
}
static void* reads_one(void* number) {
    char byte;
    if (read((int)(long)number, &byte, 1) != 1) abort();
    s_read_at = now_ms();
    atomic_store(&s_is_read, 1);
    return NULL;
}
static double read_beside_poll(void) {
    int ends[2];
    pthread_t watcher, reader;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    atomic_store(&s_is_read, 0);
    pthread_create(&watcher, NULL, &watches_the_end, (void*)(long)ends[0]);
    usleep(2000);
    pthread_create(&reader, NULL, &reads_one, (void*)(long)ends[0]);
    usleep(2000);
    double const begin = now_ms();
    if (write(ends[1], "r", 1) != 1) abort();
    pthread_join(reader, NULL);
    pthread_join(watcher, NULL);
    close(ends[0]);
    close(ends[1]);
    return s_read_at - begin;
}

// From an event to the end of a poll for it, by a number that a stream of a socket had before.
static double s_told_at;
static void* tells_late(void* number) {
    unsigned long const one = 1;
    be_late();
    s_told_at = now_ms();
    if (write((int)(long)number, &one, sizeof one) != sizeof one) abort();
    return NULL;
}
static void* answers_all(void* number) {
    char byte;
    while (read((int)(long)number, &byte, 1) == 1) {
        usleep(100);
        if (write((int)(long)number, &byte, 1) != 1) abort();
    }
    return NULL;
}
static double number_of_stream(void) {
    int ends[2];
    char byte;
    pthread_t other;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    pthread_create(&other, NULL, &answers_all, (void*)(long)ends[1]);
    FILE* const stream = fdopen(ends[0], "r+");
    for (int k = 0; k != 20; ++k) {
        if (write(ends[0], "q", 1) != 1) abort();
        by_poll_of_two(ends[0]);
        if (read(ends[0], &byte, 1) != 1) abort();
    }
    fclose(stream);
    pthread_join(other, NULL);
    int const next = eventfd(0, EFD_CLOEXEC);
    if (next != ends[0]) abort();
    pthread_create(&other, NULL, &tells_late, (void*)(long)next);
    by_poll_of_two(next);
    double const took = now_ms() - s_told_at;
    pthread_join(other, NULL);
    close(next);
    close(ends[1]);
    return took;
}

static void* wait_in_turns(void* unused) {
    if (pipe(s_never) != 0) abort();
    SHOW(least_ms(&end_after_poll) < 0.5);
    SHOW(least_ms(&read_beside_poll) < 20);
    SHOW(least_ms(&number_of_stream) < 0.7);
    return unused;
}

void waits_of_different_kinds(void) { in_thread(&wait_in_turns, NULL); }

// --- a handler ends a select, and the sets stay what they were ----------------------------------

static atomic_int s_was_interrupted;

// More than one signal may interrupt it; it tells of the first.
static void* selects_until_ready(void* number) {
    fd_set asked;
    FD_ZERO(&asked);
    FD_SET((int)(long)number, &asked);
    for (;;) {
        int const found = select((int)(long)number + 1, &asked, NULL, NULL, NULL);
        if (found == 1 || atomic_load(&s_was_interrupted) == 0)
            printf("found: %d, set: %d\n", found, FD_ISSET((int)(long)number, &asked) != 0);
        if (found == 1) return NULL;
        atomic_store(&s_was_interrupted, 1);
    }
}
static void does_nothing(int signal) { (void)signal; }

void select_that_is_interrupted(void) {
    int ends[2];
    pthread_t waiter;
    struct sigaction const action = {.sa_handler = &does_nothing};
    if (pipe(ends) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) abort();
    pthread_create(&waiter, NULL, &selects_until_ready, (void*)(long)ends[0]);
    // A signal that comes before the wait does not end it.
    for (; atomic_load(&s_was_interrupted) == 0; usleep(1000)) pthread_kill(waiter, SIGUSR1);
    if (write(ends[1], "s", 1) != 1) abort();
    pthread_join(waiter, NULL);
    close(ends[0]);
    close(ends[1]);
}

// --- a wait that the run time cannot go on with, as its epoll refuses the number -----------------

// What ends by its limit ends k_limit_ms - k_replaced_after_ms after the replacement, and what
// begins its whole limit anew then ends k_limit_ms after it: so far from each other that a machine
// on which a thread comes to run late by most of a second does not confuse them.
enum { k_limit_ms = 1200, k_replaced_after_ms = 900 };

typedef int limited_wait(int number, fd_set* set, struct timespec const* limit);

static int by_limited_poll(int number, fd_set* set, struct timespec const* limit) {
    struct pollfd asked = {number, POLLIN, 0};
    (void)set;
    (void)limit;
    return poll(&asked, 1, k_limit_ms);
}
static int by_limited_ppoll(int number, fd_set* set, struct timespec const* limit) {
    struct pollfd asked = {number, POLLIN, 0};
    (void)set;
    return ppoll(&asked, 1, limit, NULL);
}
static int by_limited_select(int number, fd_set* set, struct timespec const* limit) {
    struct timeval time = {limit->tv_sec, limit->tv_nsec / 1000};
    return select(number + 1, set, NULL, NULL, &time);
}
static int by_limited_pselect(int number, fd_set* set, struct timespec const* limit) {
    return pselect(number + 1, set, NULL, NULL, limit, NULL);
}
static int by_limited_epoll(int number, fd_set* set, struct timespec const* limit) {
    struct epoll_event found;
    (void)set;
    (void)limit;
    return epoll_wait(number, &found, 1, k_limit_ms);
}

struct limited {
    limited_wait* wait;
    int number, found;
    atomic_int begins;
    struct timespec end;
};

static void* waits_with_a_limit(void* of) {
    struct limited* const w = of;
    struct timespec const limit = {k_limit_ms / 1000, k_limit_ms % 1000 * 1000000L};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(w->number, &set);
    atomic_store(&w->begins, 1);
    w->found = w->wait(w->number, &set, &limit);
    clock_gettime(CLOCK_MONOTONIC, &w->end);
    return NULL;
}

static int add_to_epoll(int all, int number) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(all, EPOLL_CTL_ADD, number, &event);
}
// An epoll within an epoll and so on, until no other takes it.
static int deepest_epoll(void) {
    int inner = epoll_create1(EPOLL_CLOEXEC);
    for (;;) {
        int const outer = epoll_create1(EPOLL_CLOEXEC);
        if (inner < 0 || outer < 0) abort();
        if (add_to_epoll(outer, inner) != 0) {
            close(outer);
            return inner;
        }
        inner = outer;
    }
}

void waits_that_the_kernel_takes_over(void) {
    limited_wait* const waits[] = {by_limited_poll, by_limited_ppoll, by_limited_select,
                                   by_limited_pselect, by_limited_epoll};
    enum { k_waits = sizeof waits / sizeof *waits };
    struct limited all[k_waits];
    pthread_t threads[k_waits];
    int const deepest = deepest_epoll();
    for (int k = 0; k != k_waits; ++k) {
        all[k] = (struct limited){.wait = waits[k], .number = epoll_create1(EPOLL_CLOEXEC)};
        pthread_create(&threads[k], NULL, waits_with_a_limit, &all[k]);
        while (atomic_load(&all[k].begins) == 0) usleep(1000);
    }
    usleep(k_replaced_after_ms * 1000);
    struct timespec replaced;
    clock_gettime(CLOCK_MONOTONIC, &replaced);
    for (int k = 0; k != k_waits; ++k)
        if (dup2(deepest, all[k].number) < 0) abort();
    for (int k = 0; k != k_waits; ++k) {
        pthread_join(threads[k], NULL);
        long const ms = (all[k].end.tv_sec - replaced.tv_sec) * 1000 +
                        (all[k].end.tv_nsec - replaced.tv_nsec) / 1000000;
        SHOW(all[k].found);
        SHOW(ms < k_limit_ms); // not the whole limit once more
        close(all[k].number);
    }
}

// --- a number that was a file that is always ready, of which nobody asks -------------------------

static char s_file[] = "/tmp/tulle-file-XXXXXX";

static int open_file(void) {
    int const number = open(s_file, O_RDWR | O_CLOEXEC);
    if (number < 0) abort();
    return number;
}
static void show_reads(int number) {
    char bytes[4] = "";
    for (int k = 0; k != 3; ++k) {
        SHOW_ERRNO(read(number, bytes, 3));
        printf("read: %.3s\n", bytes);
    }
}
static void show_next_pipe(int number) {
    int ends[2], next[2];
    if (pipe(ends) != 0 || pipe(next) != 0) abort();
    SHOW(ends[0] == number);
    show_late_read(ends[0], ends[1]);
    int const file = open_file();
    dup2(file, ends[0]);
    close(file);
    show_reads(ends[0]);
    dup2(next[0], ends[0]);
    show_late_read(ends[0], next[1]);
    for (int k = 0; k != 2; ++k) {
        close(ends[k]);
        close(next[k]);
    }
}
static void* was_file(void* unused) {
    int number = open_file();
    show_reads(number);
    close(number);
    show_next_pipe(number);
    FILE* stream = fopen(s_file, "r+");
    if (stream == NULL) abort();
    number = fileno(stream);
    show_reads(number);
    fclose(stream);
    show_next_pipe(number);
    stream = fopen(s_file, "r+");
    if (stream == NULL) abort();
    show_reads(fileno(stream));
    char fifo[sizeof s_file + 2];
    snprintf(fifo, sizeof fifo, "%s.f", s_file);
    if (mkfifo(fifo, 0600) != 0 || freopen(fifo, "r+", stream) == NULL) abort();
    show_late_read(fileno(stream), fileno(stream));
    fclose(stream);
    unlink(fifo);
    number = open_file();
    show_reads(number);
    filter_call(SYS_poll, SECCOMP_RET_KILL_PROCESS);
    lseek(number, 0, SEEK_SET);
    show_reads(number);
    SHOW_ERRNO(write(number, "more", 4));
    close(number);
    number = open("/dev/null", O_RDWR | O_CLOEXEC);
    SHOW_ERRNO(write(number, "none", 4));
    filter_call(SYS_ioctl, SECCOMP_RET_KILL_PROCESS); // whether it is a terminal
    SHOW_ERRNO(write(number, "none", 4));
    show_reads(number);
    close(number);
    return unused;
}

void numbers_of_files(void) {
    int const number = mkstemp(s_file);
    if (number < 0 || write(number, "some bytes", 10) != 10) abort();
    close(number);
    in_thread(&was_file, NULL);
    unlink(s_file);
}

// SPDX-License-Identifier: Apache-2.0
// Cases of threads that ask for descriptors in turn, and of numbers that were sockets.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
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

// Where that is allowed, the process ends if the caller's OS thread makes this system call; with
// SECCOMP_FILTER_FLAG_TSYNC, if any does.
static void allow_none(unsigned call, unsigned flags) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog const filter = {sizeof steps / sizeof *steps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

static void* ask_at_once(void* unused) {
    struct timespec const none = {0, 0};
    struct timeval left = {0, 0};
    fd_set set, other;
    int ends[2];
    if (pipe(ends) != 0) abort();
    allow_none(SYS_epoll_create1, 0);
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

// --- neither do waits for few --------------------------------------------------------------------

enum { k_few = 3 };
static int s_few[k_few][2];

static void* writes_one_late(void* k) {
    be_late();
    if (write(s_few[(long)k][1], "w", 1) != 1) abort();
    return NULL;
}
static void show_few(void* (*other)(void*), long which, int ms) {
    pthread_t doer;
    struct pollfd asked[k_few + 1] = {{-1, POLLIN, 0}};
    for (int k = 0; k != k_few; ++k) asked[k + 1] = (struct pollfd){s_few[k][0], POLLIN, 0};
    pthread_create(&doer, NULL, other, (void*)which);
    SHOW_ERRNO(poll(asked, k_few + 1, ms));
    for (int k = 0; k != k_few + 1; ++k) printf("found: %x\n", (unsigned)asked[k].revents);
    pthread_join(doer, NULL);
}
static void show_set(long which) {
    pthread_t doer;
    fd_set set;
    FD_ZERO(&set);
    for (int k = 0; k != k_few; ++k) FD_SET(s_few[k][0], &set);
    pthread_create(&doer, NULL, &writes_one_late, (void*)which);
    SHOW_ERRNO(select(s_few[k_few - 1][0] + 1, &set, NULL, NULL, NULL));
    for (int k = 0; k != k_few; ++k) SHOW(FD_ISSET(s_few[k][0], &set));
    pthread_join(doer, NULL);
}
static void take_one(int k) {
    char byte;
    if (read(s_few[k][0], &byte, 1) != 1) abort();
}
static void* end_now(void* unused) { return unused; }
static void* wait_for_few(void* unused) {
    for (int k = 0; k != k_few; ++k) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_few[k]) != 0) abort();
    }
    show_few(&end_now, 0, 1); // with what it takes to wait at all
    allow_none(SYS_epoll_create1, SECCOMP_FILTER_FLAG_TSYNC);
    for (int k = 0; k != k_few; ++k) {
        show_few(&writes_one_late, k, -1);
        take_one(k);
        show_set(k);
        take_one(k);
    }
    int ends[2];
    if (pipe(ends) != 0) abort();
    fill(ends[1]);
    struct pollfd both[2] = {{ends[1], POLLOUT, 0}, {s_few[0][0], POLLIN, 0}};
    SHOW_ERRNO(poll(both, 2, 1));
    pthread_t doer;
    pthread_create(&doer, NULL, &empties_late, (void*)(long)ends[0]);
    SHOW_ERRNO(poll(both, 2, -1));
    printf("found: %x, %x\n", (unsigned)both[0].revents, (unsigned)both[1].revents);
    pthread_join(doer, NULL);
    return unused;
}

void waits_for_few(void) { in_thread(&wait_for_few, NULL); }

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
    allow_none(SYS_poll, SECCOMP_FILTER_FLAG_TSYNC);
    lseek(number, 0, SEEK_SET);
    show_reads(number);
    SHOW_ERRNO(write(number, "more", 4));
    close(number);
    number = open("/dev/null", O_RDWR | O_CLOEXEC);
    SHOW_ERRNO(write(number, "none", 4));
    allow_none(SYS_ioctl, SECCOMP_FILTER_FLAG_TSYNC); // whether it is a terminal
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

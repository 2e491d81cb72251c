// SPDX-License-Identifier: Apache-2.0
// Sockets on which calls have waited before, so that it is known that they wait: what changes
// that, by whatever way, the next call notices.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void* echo(void* number) {
    char byte = 0;
    int const socket = (int)(long)number;
    while (read(socket, &byte, 1) == 1 && byte != 0) {
        usleep(1000);
        if (write(socket, &byte, 1) != 1) abort();
    }
    return NULL;
}
// Reads of it wait a few times.
static void wait_at(int number, int other_end) {
    pthread_t echoes;
    char byte = 'a';
    pthread_create(&echoes, NULL, &echo, (void*)(long)other_end);
    for (int k = 0; k < 4; ++k)
        if (write(number, &byte, 1) != 1 || read(number, &byte, 1) != 1 || byte != 'a') abort();
    byte = 0;
    if (write(number, &byte, 1) != 1) abort();
    pthread_join(echoes, NULL);
}
static void show_read(char const* after, int number) {
    char byte = 0;
    errno = 0;
    long const got = read(number, &byte, 1);
    int const error = errno;
    printf("%s: %ld, errno %d\n", after, got, error);
}
// By a call that does not find out that it is no socket.
static void show_other_read(char const* after, int number) {
    char bytes[8];
    struct iovec const part = {bytes, sizeof bytes};
    errno = 0;
    long const got = readv(number, &part, 1);
    int const error = errno;
    printf("%s: %ld, errno %d\n", after, got, error);
}

static int flags_with(int number, int more) { return fcntl(number, F_GETFL) | more; }
static void set_by_fcntl(int number) { fcntl(number, F_SETFL, flags_with(number, O_NONBLOCK)); }
static void set_by_ioctl(int number) {
    int on = 1;
    ioctl(number, FIONBIO, &on);
}
static void set_by_other_number(int number) {
    int const other = dup(number);
    set_by_fcntl(other);
    close(other);
}
static void set_by_syscall(int number) {
    syscall((long)SYS_fcntl, (long)number, (long)F_SETFL, (long)flags_with(number, O_NONBLOCK));
}
static void set_limit(int number) {
    struct timeval const time = {0, 5000};
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}
static void set_by_child(int number) {
    pid_t const child = fork();
    if (child == 0) {
        set_by_fcntl(number);
        _exit(0);
    }
    SHOW(end_of(child));
}
// This program again, which does it.
static char s_self[] = "/proc/self/exe", s_word[] = "set_mode";
static void set_by_vfork(int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    pid_t const child = vfork();
    if (child == 0) {
        execl(s_self, s_self, s_word, text, (char*)NULL);
        _exit(1);
    }
    SHOW(end_of(child));
}
static void set_by_program(int number) {
    char text[16];
    char* words[] = {s_self, s_word, text, NULL};
    snprintf(text, sizeof text, "%d", number);
    pid_t child;
    SHOW(posix_spawn(&child, s_self, NULL, NULL, words, environ));
    SHOW(end_of(child));
}
static void set_by_command(int number) {
    char text[64], path[4096];
    ssize_t const length = readlink(s_self, path, sizeof path - 1);
    if (length < 0) abort();
    path[length] = '\0';
    snprintf(text, sizeof text, "exec \"$CASES\" %s %d", s_word, number);
    setenv("CASES", path, 1);
    SHOW(system(text));
}
void set_mode(int number) { set_by_fcntl(number); }

static void pass(int by, int number) {
    char byte = 'n', room[CMSG_SPACE(sizeof number)];
    memset(room, 0, sizeof room);
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    struct cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof number);
    memcpy(CMSG_DATA(head), &number, sizeof number);
    if (sendmsg(by, &message, 0) != 1) abort();
}
static int taken(int by) {
    int number = -1;
    char byte = 0, room[CMSG_SPACE(sizeof number)];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    if (recvmsg(by, &message, 0) != 1) return -1;
    memcpy(&number, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof number);
    return number;
}

static int s_way[2]; // to a process that was there before the socket
static pid_t s_other;
static void begin_other_process(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s_way) != 0) abort();
    s_other = fork();
    if (s_other != 0) return;
    int const number = taken(s_way[1]);
    fcntl(number, F_SETFL, O_RDWR | O_NONBLOCK);
    if (write(s_way[1], "", 1) != 1) _exit(1);
    _exit(0);
}
static void set_by_other_process(int number) {
    char byte;
    pass(s_way[0], number);
    if (read(s_way[0], &byte, 1) != 1) abort();
    SHOW(end_of(s_other));
    close(s_way[0]);
    close(s_way[1]);
}

static void show_change(char const* name, void (*change)(int)) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    wait_at(ends[0], ends[1]);
    change(ends[0]);
    show_read(name, ends[0]);
    close(ends[0]);
    close(ends[1]);
}

// Another file has the number of a socket that the C library has closed.
static void show_after_fclose(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    wait_at(ends[0], ends[1]);
    FILE* const stream = fdopen(ends[0], "r+");
    wait_at(ends[0], ends[1]);
    fclose(stream);
    int const next = eventfd(0, EFD_NONBLOCK);
    SHOW(next == ends[0]);
    show_other_read("eventfd", next);
    close(next);
    close(ends[1]);
}
static void show_after_dup2(void) {
    int ends[2], others[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    wait_at(ends[0], ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others) != 0) abort();
    SHOW(dup2(others[0], ends[0]) == ends[0]);
    show_read("dup2", ends[0]);
    close(ends[0]);
    int const again = dup(others[0]);
    SHOW(again == ends[0]);
    show_read("dup", again);
    close(again);
    int const lowest = fcntl(others[0], F_DUPFD, ends[0]);
    SHOW(lowest == ends[0]);
    show_read("F_DUPFD", lowest);
    close(lowest);
    close(ends[1]);
    close(others[0]);
    close(others[1]);
}

// Of a socket that has been made just now everything is known, but for what its listener gives it.
static void show_accepted(char const* by, int listener, int flags) {
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    int const client = socket(AF_INET, SOCK_STREAM, 0);
    if (getsockname(listener, (struct sockaddr*)&to, &size) != 0 ||
        connect(client, (struct sockaddr*)&to, size) != 0)
        abort();
    int const server = accept4(listener, NULL, NULL, flags);
    show_read(by, server);
    set_limit(client);
    show_read("a limit of the other end", client);
    close(server);
    close(client);
}
static void show_new_sockets(void) {
    struct timeval const none = {0, 0};
    struct sockaddr_in any = {.sin_family = AF_INET};
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int const listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&any, sizeof any) != 0 || listen(listener, 1) != 0)
        abort();
    set_limit(listener);
    show_accepted("a limit of its listener", listener, 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    show_accepted("SOCK_NONBLOCK of accept4", listener, SOCK_NONBLOCK);
    close(listener);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) abort();
    show_read("SOCK_NONBLOCK of socketpair", ends[0]);
    close(ends[0]);
    close(ends[1]);
}

static void* change_modes(void* unused) {
    show_new_sockets();
    show_change("fcntl", &set_by_fcntl);
    show_change("ioctl", &set_by_ioctl);
    show_change("the mode of another number", &set_by_other_number);
    show_change("syscall", &set_by_syscall);
    show_change("a limit", &set_limit);
    show_change("a child", &set_by_child);
    show_change("a child of vfork", &set_by_vfork);
    show_change("a program", &set_by_program);
    show_change("a command", &set_by_command);
    begin_other_process();
    show_change("another process", &set_by_other_process);
    show_after_fclose();
    show_after_dup2();
    return unused;
}

void modes_of_sockets(void) { in_both(&change_modes); }

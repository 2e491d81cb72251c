// SPDX-License-Identifier: Apache-2.0
// What a call on a socket or a pipe does that waits, and one that only tries does not: connections
// that are refused, interrupted, broken or shut down, parts of what is sent, and limits of time.
// Tries are not interrupted by signals for other threads.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

enum { k_much = 32 << 20 }; // more than a connection holds

static int socket_at(int type, struct sockaddr_in* at) {
    int const made = socket(AF_INET, type, 0);
    socklen_t size = sizeof *at;
    memset(at, 0, sizeof *at);
    at->sin_family = AF_INET;
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(made, (struct sockaddr*)at, size) != 0 ||
        getsockname(made, (struct sockaddr*)at, &size) != 0)
        abort();
    return made;
}
static int connect_to(int socket, struct sockaddr_in const* at) {
    return connect(socket, (struct sockaddr const*)at, sizeof *at);
}
static void connect_both(int ends[2]) {
    struct sockaddr_in at;
    int const listener = socket_at(SOCK_STREAM, &at);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (listen(listener, 1) != 0 || connect_to(ends[0], &at) != 0) abort();
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}
static void make_local(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
}
static void close_both(int const ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

// --- an end of what comes ------------------------------------------------------------------------

static void* receives(void* of) {
    int const socket = *(int*)of;
    char bytes[8];
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    SHOW_CALL(recv(socket, bytes, sizeof bytes, 0));
    SHOW_CALL(recvfrom(socket, bytes, sizeof bytes, 0, NULL, NULL));
    SHOW_CALL(recvmsg(socket, &message, 0));
    SHOW_CALL(read(socket, bytes, sizeof bytes));
    SHOW_CALL(recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    return NULL;
}
static void shut_down(int socket) {
    pthread_t reader;
    pthread_create(&reader, NULL, &receives, &socket);
    usleep(30000);
    shutdown(socket, SHUT_RD);
    pthread_join(reader, NULL);
}
void shut_down_under_reads(void) {
    struct sockaddr_in at;
    int const alone = socket_at(SOCK_DGRAM, &at);
    shut_down(alone);
    close(alone);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) abort();
    shut_down(ends[0]);
    close_both(ends);
}

// Nobody has the other end of a pipe yet, and the reader has not waited for that.
static void* reads_early(void* path) {
    char bytes[8];
    int const end = open(path, O_RDONLY | O_NONBLOCK);
    fcntl(end, F_SETFL, O_RDONLY);
    SHOW_CALL(read(end, bytes, sizeof bytes));
    int const other_end = open(path, O_WRONLY);
    if (write(other_end, "ab", 2) != 2) abort();
    SHOW_CALL(read(other_end, bytes, sizeof bytes));
    SHOW_CALL(read(end, bytes, sizeof bytes));
    close(other_end);
    SHOW_CALL(read(end, bytes, sizeof bytes));
    close(end);
    return NULL;
}
void pipes_without_writers(void) {
    char folder[] = "/tmp/pthread-cases-XXXXXX", path[64];
    if (mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/pipe", folder);
    if (mkfifo(path, 0600) != 0) abort();
    in_thread(&reads_early, path);
    unlink(path);
    rmdir(folder);
}

// --- connections ---------------------------------------------------------------------------------

static void* connects_again(void* unused) {
    struct sockaddr_in at;
    int const listener = socket_at(SOCK_STREAM, &at), client = socket(AF_INET, SOCK_STREAM, 0);
    SHOW_CALL(connect_to(client, &at)); // nobody listens yet
    if (listen(listener, 1) != 0) abort();
    SHOW_CALL(connect_to(client, &at));
    SHOW_CALL(connect_to(client, &at));
    SHOW_CALL(write(client, "c", 1));
    close(client);
    close(listener);
    return unused;
}

// A listener for which the system answers no more clients until some have been accepted.
static struct sockaddr_in s_busy;
static int s_listener, s_clients[16], s_count;
static void make_busy(void) {
    s_listener = socket_at(SOCK_STREAM, &s_busy);
    if (listen(s_listener, 0) != 0) abort();
    fcntl(s_listener, F_SETFL, O_NONBLOCK);
    for (s_count = 0; s_count != sizeof s_clients / sizeof *s_clients;) {
        int const client = s_clients[s_count++] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct pollfd asked = {client, POLLOUT, 0};
        if (connect_to(client, &s_busy) != 0 && poll(&asked, 1, 100) == 0) return;
    }
}
static void accept_until_end_of(pthread_t thread) {
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
        int const accepted = accept(s_listener, NULL, NULL);
        if (accepted < 0) usleep(10000);
    }
}
static void* connects_when_interrupted(void* unused) {
    int const client = socket(AF_INET, SOCK_STREAM, 0);
    SHOW_CALL(connect_to(client, &s_busy));
    SHOW_CALL(connect_to(client, &s_busy));
    SHOW_CALL(send(client, "c", 1, MSG_NOSIGNAL));
    close(client);
    return unused;
}
static void* connects_after_all(void* unused) {
    int const client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SHOW_CALL(connect_to(client, &s_busy));
    fcntl(client, F_SETFL, O_RDWR);
    SHOW_CALL(connect_to(client, &s_busy));
    SHOW_CALL(send(client, "c", 1, MSG_NOSIGNAL));
    close(client);
    return unused;
}
static void do_nothing(int signal) { (void)signal; }
void connections_made_again(void) {
    in_both(&connects_again);
    struct sigaction const action = {.sa_handler = &do_nothing};
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    make_busy();
    pthread_create(&thread, NULL, &connects_when_interrupted, NULL);
    usleep(50000);
    pthread_kill(thread, SIGUSR1);
    usleep(50000);
    accept_until_end_of(thread);
    close(s_listener);
    make_busy();
    pthread_create(&thread, NULL, &connects_after_all, NULL);
    usleep(50000);
    accept_until_end_of(thread);
}

// --- output that cannot go on --------------------------------------------------------------------

static char s_bytes[k_much];

// By the time that it returns nobody reads any more, which the next call tells.
static void* sends_much(void* to) {
    long const sent = send(*(int*)to, s_bytes, k_much, 0);
    SHOW(sent > 0 && sent < k_much);
    return NULL;
}
static void* sends_one(void* to) {
    static char bytes[4096];
    while (send(*(int*)to, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
    SHOW_CALL(send(*(int*)to, bytes, sizeof bytes, 0));
    return NULL;
}
static void* sends_twice(void* to) {
    sends_much(to);
    SHOW_CALL(send(*(int*)to, s_bytes, 1, 0));
    return NULL;
}
static void break_under(void* (*sends)(void*), int ends[2], void (*by)(int const ends[2])) {
    pthread_t sender;
    pthread_create(&sender, NULL, sends, &ends[0]);
    usleep(50000);
    by(ends);
    pthread_join(sender, NULL);
}
static void close_other(int const ends[2]) { close(ends[1]); }
static void shut_down_output(int const ends[2]) { shutdown(ends[0], SHUT_WR); }
void broken_connections(void) {
    int ends[2];
    connect_both(ends);
    break_under(&sends_twice, ends, &close_other);
    close(ends[0]);
    connect_both(ends);
    break_under(&sends_much, ends, &shut_down_output);
    close_both(ends);
    make_local(ends);
    break_under(&sends_much, ends, &close_other);
    close(ends[0]);
    make_local(ends);
    break_under(&sends_one, ends, &close_other);
    close(ends[0]);
}

// --- flags ---------------------------------------------------------------------------------------

static void* reads_all(void* from) {
    static char bytes[1 << 16];
    while (read(*(int*)from, bytes, sizeof bytes) > 0) usleep(200);
    return NULL;
}
// How many calls the system tells of, whose memory is free, once all has arrived.
static unsigned calls_told(int socket) {
    unsigned count = 0;
    int left = 1;
    while (ioctl(socket, SIOCOUTQ, &left) == 0 && left != 0) usleep(1000);
    for (;;) {
        char room[128];
        struct msghdr message = {.msg_control = room, .msg_controllen = sizeof room};
        struct sock_extended_err told;
        if (recvmsg(socket, &message, MSG_ERRQUEUE) < 0) return count;
        memcpy(&told, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof told);
        count = told.ee_data + 1;
    }
}
static void* sends_its_memory(void* to) {
    int const socket = *(int*)to, yes = 1;
    SHOW(setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof yes));
    SHOW(send(socket, s_bytes, 4 << 20, MSG_ZEROCOPY) == 4 << 20);
    SHOW(calls_told(socket));
    return NULL;
}
static void* connects_by_sending(void* unused) {
    struct sockaddr_in at;
    int const listener = socket_at(SOCK_STREAM, &at), yes = 1;
    if (listen(listener, 4) != 0) abort();
    int client = socket(AF_INET, SOCK_STREAM, 0);
    SHOW_CALL(sendto(client, "f", 1, MSG_FASTOPEN, (struct sockaddr*)&at, sizeof at));
    close(client);
    client = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(client, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &yes, sizeof yes);
    SHOW_CALL(connect_to(client, &at));
    SHOW_CALL(write(client, "f", 1));
    close(client);
    close(listener);
    return unused;
}
void flags_of_output(void) {
    int ends[2];
    pthread_t reader;
    connect_both(ends);
    pthread_create(&reader, NULL, &reads_all, &ends[1]);
    in_thread(&sends_its_memory, &ends[0]);
    close(ends[0]);
    pthread_join(reader, NULL);
    close(ends[1]);
    in_both(&connects_by_sending);
}

// --- how much, and how long ----------------------------------------------------------------------

static void* receives_some(void* from) {
    int const socket = *(int*)from, least = 4;
    char bytes[16];
    setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
    SHOW(recv(socket, bytes, sizeof bytes, 0) >= least);
    SHOW(read(socket, bytes, sizeof bytes) >= least);
    return NULL;
}
static void send_one_by_one(int const ends[2]) {
    pthread_t reader;
    for (int k = 0; k != 12; ++k) {
        if (write(ends[1], "o", 1) != 1) abort();
        usleep(5000);
        if (k == 0) pthread_create(&reader, NULL, &receives_some, (void*)&ends[0]);
    }
    pthread_join(reader, NULL);
    close_both(ends);
}
void least_to_receive(void) {
    int ends[2];
    connect_both(ends);
    send_one_by_one(ends);
    make_local(ends);
    send_one_by_one(ends);
}

// All of it, or what there is at an end.
static void* receives_whole(void* from) {
    int const socket = *(int*)from;
    char bytes[8];
    struct iovec parts[2] = {{bytes, 3}, {bytes + 3, 5}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    SHOW_CALL(recv(socket, bytes, sizeof bytes, MSG_WAITALL));
    SHOW_CALL(recvmsg(socket, &message, MSG_WAITALL));
    SHOW(memcmp(bytes, "abcdefgh", sizeof bytes));
    SHOW_CALL(recvfrom(socket, bytes, sizeof bytes, MSG_WAITALL, NULL, NULL));
    struct timeval const limit = {0, 300000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    SHOW_CALL(recv(socket, bytes, 4, MSG_WAITALL));
    SHOW_CALL(recv(socket, bytes, 4, MSG_WAITALL));
    return NULL;
}
static void* receives_last(void* from) {
    char bytes[8];
    SHOW_CALL(recv(*(int*)from, bytes, sizeof bytes, MSG_WAITALL));
    SHOW_CALL(recv(*(int*)from, bytes, sizeof bytes, MSG_WAITALL));
    return NULL;
}
static void send_in_pieces(int ends[2]) {
    pthread_t reader;
    pthread_create(&reader, NULL, &receives_whole, &ends[0]);
    for (int k = 0; k != 26; ++k) {
        usleep(1000);
        if (write(ends[1], &"abcdefghabcdefghabcdefghij"[k], 1) != 1) abort();
    }
    pthread_join(reader, NULL);
    struct timeval const none = {0, 0};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    pthread_create(&reader, NULL, &receives_last, &ends[0]);
    usleep(5000);
    if (write(ends[1], "xyz", 3) != 3) abort();
    usleep(5000);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
}
// --- more threads than OS threads wait, each for a byte that another one sends -----------------

enum { k_crowd = 200 };
static int s_crowd[k_crowd][2];
static void* sends_to_all(void* unused) {
    for (int k = 0; k != k_crowd; ++k)
        if (write(s_crowd[k][1], "b", 1) != 1) abort();
    return unused;
}
// `reads` closes its end. Its message has begun with `begin`.
static void serve_crowd(void* (*reads)(void*), char const* begin) {
    static pthread_t readers[k_crowd];
    ssize_t const size = (ssize_t)strlen(begin);
    int good = 0;
    for (int k = 0; k != k_crowd; ++k) {
        make_local(s_crowd[k]);
        if (write(s_crowd[k][1], begin, (size_t)size) != size) abort();
        pthread_create(&readers[k], NULL, reads, &s_crowd[k][0]);
    }
    usleep(30000); // they wait, most times
    in_thread(&sends_to_all, NULL);
    for (int k = 0; k != k_crowd; ++k) {
        void* result;
        pthread_join(readers[k], &result);
        good += result != NULL;
        close(s_crowd[k][1]);
    }
    SHOW(good);
}

static void* receives_two(void* from) {
    char bytes[2];
    ssize_t const size = recv(*(int*)from, bytes, sizeof bytes, MSG_WAITALL);
    close(*(int*)from);
    return size == 2 ? from : NULL;
}
// By the C library, which waits in the kernel.
static void* gets_one(void* from) {
    FILE* const stream = fdopen(*(int*)from, "r");
    int const byte = getc(stream);
    fclose(stream);
    return byte == 'b' ? from : NULL;
}
// The process may not have many more files than these.
void crowds_at_streams(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) abort();
    files.rlim_cur = 2 * k_crowd + 90;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) abort();
    serve_crowd(&gets_one, "");
}
void whole_messages(void) {
    int ends[2];
    connect_both(ends);
    send_in_pieces(ends);
    make_local(ends);
    send_in_pieces(ends);
    pthread_t reader;
    void* result;
    make_local(ends);
    pthread_create(&reader, NULL, &receives_last, &ends[0]);
    usleep(5000);
    pthread_cancel(reader);
    SHOW(pthread_join(reader, &result) == 0 && result == PTHREAD_CANCELED);
    close_both(ends);
    serve_crowd(&receives_two, "a");
}

// For longer than the limit, but each time some.
static void* reads_slowly(void* from) {
    static char bytes[1 << 18];
    while (recv(*(int*)from, bytes, sizeof bytes, 0) > 0) usleep(20000);
    return NULL;
}
static void* sends_with_limit(void* to) {
    struct timeval const limit = {0, 150000};
    setsockopt(*(int*)to, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return sends_much(to);
}
static void send_slowly(int ends[2]) {
    pthread_t reader;
    pthread_create(&reader, NULL, &reads_slowly, &ends[1]);
    in_thread(&sends_with_limit, &ends[0]);
    shutdown(ends[1], SHUT_RDWR);
    pthread_join(reader, NULL);
    close_both(ends);
}
static void* sends_all_in_parts(void* to) {
    struct timeval const limit = {0, 150000};
    setsockopt(*(int*)to, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    SHOW(send(*(int*)to, s_bytes, 4 << 20, 0) == 4 << 20);
    return NULL;
}
void limits_of_parts(void) {
    int ends[2];
    pthread_t reader;
    connect_both(ends);
    send_slowly(ends);
    make_local(ends); // where each part has the whole limit
    pthread_create(&reader, NULL, &reads_slowly, &ends[1]);
    in_thread(&sends_all_in_parts, &ends[0]);
    shutdown(ends[1], SHUT_RDWR);
    pthread_join(reader, NULL);
    close_both(ends);
}

// --- both ends, and terminals --------------------------------------------------------------------

// Each end of a transfer waits or not, as it has been told itself.
static void* splices_for_other(void* unused) {
    int local[2], ends[2];
    if (pipe(ends) != 0) abort();
    make_local(local);
    fcntl(local[0], F_SETFL, O_RDWR | O_NONBLOCK);
    pid_t const child = fork();
    if (child == 0) {
        usleep(30000);
        _exit(write(ends[1], "abc", 3) == 3 ? 0 : 1);
    }
    SHOW_CALL(splice(ends[0], NULL, local[0], NULL, 8, 0));
    SHOW(end_of(child));
    SHOW_CALL(splice(local[0], NULL, ends[1], NULL, 8, 0));
    fcntl(ends[0], F_SETFL, O_RDONLY | O_NONBLOCK);
    SHOW_CALL(splice(ends[0], NULL, local[0], NULL, 8, 0));
    close_both(local);
    close_both(ends);
    return unused;
}
void transfers_of_both_modes(void) { in_both(&splices_for_other); }

// The other end of a terminal may be read by anyone.
static void* reads_other_end(void* of) {
    char byte;
    read(*(int*)of, &byte, 1);
    return NULL;
}
void other_ends_of_terminals(void) {
    int end = posix_openpt(O_RDWR | O_NOCTTY);
    if (end < 0 || grantpt(end) != 0 || unlockpt(end) != 0) abort();
    int const terminal = open(ptsname(end), O_RDWR | O_NOCTTY);
    void* result = NULL;
    pthread_t reader;
    pthread_create(&reader, NULL, &reads_other_end, &end);
    usleep(30000);
    pthread_cancel(reader);
    pthread_join(reader, &result);
    SHOW(result == PTHREAD_CANCELED);
    close(terminal);
    close(end);
}

// Processes that are not in the foreground read nothing of the terminal of their session.
static void* reads_terminal(void* of) {
    char byte;
    SHOW_CALL(read(*(int*)of, &byte, 1));
    return NULL;
}
static void read_in_background(int terminal) {
    signal(SIGTTIN, SIG_IGN);
    alarm(20);
    in_thread(&reads_terminal, &terminal);
    fflush(stdout);
}
void terminals_of_others(void) {
    int const master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) abort();
    pid_t const leader = fork();
    if (leader == 0) {
        setsid();
        int terminal = open(ptsname(master), O_RDWR);
        if (terminal < 0) _exit(1);
        pid_t const child = fork();
        if (child == 0) {
            setpgid(0, 0);
            read_in_background(terminal);
            _exit(0);
        }
        _exit(end_of(child));
    }
    SHOW(end_of(leader));
    close(master);
}

// --- signals for others --------------------------------------------------------------------------

static volatile int s_is_over;
static void* handles_signals(void* unused) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (!s_is_over) usleep(1000);
    return unused;
}
static int s_interrupted[3];
static void note_result(int index, int result) {
    if (result < 0 && errno == EINTR) ++s_interrupted[index];
}
static void ask_once(int number, mqd_t queue) {
    struct pollfd asked = {number, POLLIN, 0};
    struct timeval soon = {0, 1};
    struct timespec const before = {1, 0};
    fd_set set;
    char byte;
    note_result(0, poll(&asked, 1, 0));
    FD_ZERO(&set);
    FD_SET(number, &set);
    note_result(1, select(number + 1, &set, NULL, NULL, &soon));
    note_result(2, (int)mq_timedreceive(queue, &byte, 1, NULL, &before));
}
// It blocks the signal.
static void* asks(void* unused) {
    struct mq_attr const small = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[32];
    snprintf(name, sizeof name, "/cases-%d", (int)getpid());
    mqd_t const queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &small);
    int const number = eventfd(0, 0);
    mq_unlink(name);
    struct timespec const end = in_ms_of(CLOCK_MONOTONIC, 400);
    for (struct timespec now = {0, 0};
         now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec);
         clock_gettime(CLOCK_MONOTONIC, &now))
        ask_once(number, queue);
    mq_close(queue);
    close(number);
    return unused;
}
void asked_beside_signals(void) {
    struct sigaction const action = {.sa_handler = &do_nothing};
    pthread_t handler, asker;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&handler, NULL, &handles_signals, NULL);
    pthread_create(&asker, NULL, &asks, NULL);
    pid_t const process = getpid(), child = fork();
    if (child == 0) alarm(20);
    while (child == 0) kill(process, SIGUSR1);
    pthread_join(asker, NULL);
    kill(child, SIGKILL);
    SHOW(end_of(child));
    s_is_over = 1;
    pthread_join(handler, NULL);
    for (int k = 0; k != 3; ++k) SHOW(s_interrupted[k]);
}

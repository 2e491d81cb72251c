// SPDX-License-Identifier: Apache-2.0
// Transfers that end early: to a peer that is gone, from a pipe that has had no writer yet, and at
// limits of time.
#define _GNU_SOURCE
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static void connect_by_tcp(int ends[2]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int const listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&at, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&at, &size) != 0)
        abort();
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ends[0], (struct sockaddr*)&at, size) != 0) abort();
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}
static void connect_locally(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
}
static void connect_by_packets(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) abort();
}

// --- to a peer that is gone ----------------------------------------------------------------------

enum { k_large = 32 << 20 }; // more than a connection holds

static volatile sig_atomic_t s_signals;
static void count_signal(int signal) {
    (void)signal;
    ++s_signals;
}
// The handler has run when the call returns.
#define SHOW_TRANSFER(expression)                                                                  \
    do {                                                                                           \
        s_signals = 0;                                                                             \
        SHOW_CALL(expression);                                                                     \
        printf("signals: %d\n", (int)s_signals);                                                   \
    } while (0)

static char s_page[4096];
static int s_file, s_pipe[2], s_is_full, s_begins;

static void begin(int to) {
    while (s_is_full && send(to, s_page, sizeof s_page, MSG_DONTWAIT) > 0) continue;
    __atomic_store_n(&s_begins, 1, __ATOMIC_RELEASE);
}
static void* sends_file(void* end) {
    int const to = *(int*)end;
    off_t at = 0;
    begin(to);
    SHOW_TRANSFER(sendfile(to, s_file, &at, k_large) > 0 ? 1 : -1);
    SHOW_TRANSFER(sendfile(to, s_file, &at, 100));
    SHOW_TRANSFER(sendfile64(to, s_file, NULL, 100));
    return NULL;
}
static void* splices(void* end) {
    int const to = *(int*)end;
    if (write(s_pipe[1], s_page, 200) != 200) abort();
    begin(to);
    SHOW_TRANSFER(splice(s_pipe[0], NULL, to, NULL, 100, 0));
    SHOW_TRANSFER(splice(s_pipe[0], NULL, to, NULL, 100, 0));
    return NULL;
}
static void* sends_bytes(void* end) {
    static char bytes[k_large];
    int const to = *(int*)end;
    begin(to);
    SHOW_TRANSFER(send(to, bytes, sizeof bytes, 0) > 0 ? 1 : -1);
    return NULL;
}

static void reset(int const ends[2]) {
    struct linger const at_once = {1, 0};
    setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(ends[1]);
}
static void close_peer(int const ends[2]) { close(ends[1]); }
static void shut_down_output(int const ends[2]) { shutdown(ends[0], SHUT_WR); }
static void shut_down_peer(int const ends[2]) { shutdown(ends[1], SHUT_RDWR); }

// `breaks` ends the connection while the thread waits, or before.
static void break_one(void (*connects)(int*), void* (*sends)(void*), void (*breaks)(int const*),
                      int is_before) {
    int ends[2];
    pthread_t sender;
    connects(ends);
    __atomic_store_n(&s_begins, 0, __ATOMIC_RELEASE);
    if (is_before) breaks(ends);
    pthread_create(&sender, NULL, sends, &ends[0]);
    if (!is_before) {
        while (!__atomic_load_n(&s_begins, __ATOMIC_ACQUIRE)) usleep(1000);
        usleep(50000); // it waits, most times
        breaks(ends);
    }
    pthread_join(sender, NULL);
    close(ends[0]);
    if (breaks == shut_down_output || breaks == shut_down_peer) close(ends[1]);
    while (poll(&(struct pollfd){s_pipe[0], POLLIN, 0}, 1, 0) == 1) {
        if (read(s_pipe[0], s_page, sizeof s_page) < 0) abort();
    }
}
static void break_all(void (*connects)(int*), void (*breaks)(int const*)) {
    s_is_full = 0;
    break_one(connects, &sends_file, breaks, 1);
    break_one(connects, &splices, breaks, 1);
    break_one(connects, &sends_file, breaks, 0);
    s_is_full = 1;
    break_one(connects, &sends_file, breaks, 0);
    break_one(connects, &splices, breaks, 0);
    break_one(connects, &sends_bytes, breaks, 0);
}
void transfers_to_nobody(void) {
    signal(SIGPIPE, &count_signal);
    s_file = memfd_create("file", 0);
    if (ftruncate(s_file, k_large) != 0 || pipe(s_pipe) != 0) abort();
    break_all(&connect_by_tcp, &reset);
    break_all(&connect_by_tcp, &shut_down_output);
    break_all(&connect_locally, &close_peer);
    break_all(&connect_locally, &shut_down_output);
    break_all(&connect_locally, &shut_down_peer);
}

// Of packets, too.
void packets_to_nobody(void) {
    signal(SIGPIPE, &count_signal);
    s_file = memfd_create("file", 0);
    if (ftruncate(s_file, k_large) != 0 || pipe(s_pipe) != 0) abort();
    void (*const breaks[])(int const*) = {&close_peer, &shut_down_output, &shut_down_peer};
    for (int k = 0; k != 3; ++k)
        for (int is_before = 0; is_before != 2; ++is_before)
            for (s_is_full = 0; s_is_full != 2; ++s_is_full) {
                printf("%d %d %d\n", k, is_before, s_is_full);
                break_one(&connect_by_packets, &sends_file, breaks[k], is_before);
                break_one(&connect_by_packets, &splices, breaks[k], is_before);
            }
}

// All that is in a pipe goes to a socket in one call.
static void* splices_all(void* unused) {
    int from[2], ends[2];
    static char bytes[1 << 16];
    if (pipe(from) != 0 || write(from[1], bytes, sizeof bytes) != sizeof bytes) abort();
    connect_by_tcp(ends);
    SHOW_CALL(splice(from[0], NULL, ends[0], NULL, 40000, 0));
    SHOW_CALL(splice(from[0], NULL, ends[0], NULL, 40000, 0));
    close(from[0]);
    close(from[1]);
    close(ends[0]);
    close(ends[1]);
    return unused;
}
void spliced_at_once(void) { in_both(&splices_all); }

// --- what cannot be done -------------------------------------------------------------------------

static int (*volatile send_to_queue)(mqd_t, char const*, size_t, unsigned,
                                     struct timespec const*) = &mq_timedsend;
static ssize_t (*volatile receive_from_queue)(mqd_t, char*, size_t, unsigned*,
                                              struct timespec const*) = &mq_timedreceive;

// It is said at once, though nothing has come that could be moved or read.
static void* tries_in_vain(void* unused) {
    char bytes[8];
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iovlen = 1};
    struct iovec const* volatile nothing = NULL;
    int volatile negative = -1, too_many = 1 << 20; // which compilers warn of
    int ends[2], others[2], sockets[2];
    off64_t at = 0;
    int const file = memfd_create("file", 0);
    if (pipe(ends) != 0 || pipe(others) != 0) abort();
    connect_locally(sockets);
    SHOW_CALL(sendfile(others[1], ends[0], NULL, 1));
    SHOW_CALL(sendfile(sockets[0], sockets[1], NULL, 1));
    SHOW_CALL(splice(ends[0], NULL, ends[1], NULL, 1, 0));
    SHOW_CALL(splice(ends[0], &at, others[1], NULL, 1, 0));
    SHOW_CALL(splice(file, NULL, file, NULL, 1, 0));
    SHOW_CALL(tee(ends[0], ends[1], 1, 0));
    SHOW_CALL(tee(file, others[1], 1, 0));
    SHOW_CALL(readv(ends[0], nothing, 1));
    SHOW_CALL(readv(ends[0], &part, negative));
    SHOW_CALL(readv(ends[0], &part, too_many));
    SHOW_CALL(readv(ends[1], &part, 1));
    SHOW_CALL(read(ends[1], bytes, 1));
    SHOW_CALL(preadv2(ends[1], &part, 1, -1, 0));
    SHOW_CALL(writev(ends[0], &part, 1));
    SHOW_CALL(splice(ends[1], NULL, others[1], NULL, 1, 0));
    SHOW_CALL(pwritev2(ends[1], nothing, 1, -1, 0));
    SHOW_CALL(pwritev2(ends[1], &part, too_many, -1, 0));
    SHOW_CALL(preadv2(ends[0], nothing, 1, -1, 0));
    SHOW_CALL(preadv2(ends[0], &part, too_many, -1, 0));
    SHOW_CALL(pwritev2(file, nothing, 1, 0, 0));
    SHOW_CALL(pwritev2(file, &part, too_many, 0, 0));
    SHOW_CALL(accept(sockets[0], NULL, NULL));
    SHOW_CALL(accept4(ends[0], NULL, NULL, SOCK_CLOEXEC));
    SHOW_CALL(sendmsg(sockets[0], &message, 0));
    SHOW_CALL(send_to_queue((mqd_t)file, bytes, 1, 0, NULL));
    SHOW_CALL(receive_from_queue((mqd_t)file, bytes, sizeof bytes, NULL, NULL));
    if (write(sockets[1], "a", 1) != 1) abort();
    SHOW_CALL(recvmsg(sockets[0], &message, MSG_WAITALL));
    SHOW_CALL(recvmsg(sockets[0], &message, 0));
    for (int k = 0; k != 2; ++k) {
        close(ends[k]);
        close(others[k]);
        close(sockets[k]);
    }
    close(file);
    return unused;
}
void transfers_in_vain(void) { in_both(&tries_in_vain); }

// Of events that have not come, fewer bytes than a number has.
static void* reads_parts_of_numbers(void* unused) {
    char bytes[7];
    struct iovec const part = {bytes, sizeof bytes};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    int const files[] = {eventfd(0, 0), timerfd_create(CLOCK_MONOTONIC, 0), signalfd(-1, &one, 0)};
    for (int k = 0; k != 3; ++k) {
        SHOW_CALL(read(files[k], bytes, sizeof bytes));
        SHOW_CALL(readv(files[k], &part, 1));
        close(files[k]);
    }
    return unused;
}
void parts_of_numbers(void) { in_both(&reads_parts_of_numbers); }

// --- parts and messages that are not there -------------------------------------------------------

struct nowhere {
    char* last_page; // behind which nothing can be read
    void* gap;
    struct iovec* cut;       // two parts, of which the second is not there
    struct mmsghdr* message; // two messages, likewise
};
static struct nowhere map_nothing(void) {
    size_t const page = (size_t)getpagesize();
    char* const pages =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || munmap(pages + page, page) != 0) abort();
    struct nowhere n = {pages, pages + page, NULL, NULL};
    n.cut = (struct iovec*)n.gap - 1;
    n.message = (struct mmsghdr*)n.gap - 1;
    return n;
}
static void send_from_nowhere(struct nowhere const* n, int const sockets[2]) {
    char bytes[] = "abcdef";
    struct iovec part = {bytes, 3};
    struct iovec second_is_nowhere[2] = {{bytes, 3}, {n->gap, 3}};
    struct msghdr of_nothing = {.msg_iov = n->gap, .msg_iovlen = 1};
    struct msghdr of_cut = {.msg_iov = n->cut, .msg_iovlen = 2};
    struct msghdr beside = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = n->gap};
    struct msghdr in_parts = {.msg_iov = second_is_nowhere, .msg_iovlen = 2};
    SHOW_CALL(sendmsg(sockets[0], n->gap, 0));
    SHOW_CALL(sendmsg(sockets[0], &of_nothing, 0));
    SHOW_CALL(sendmsg(sockets[0], &of_cut, 0));
    beside.msg_controllen = 64;
    SHOW_CALL(sendmsg(sockets[0], &beside, 0));
    beside.msg_controllen = (size_t)1 << 40;
    SHOW_CALL(sendmsg(sockets[0], &beside, 0));
    SHOW_CALL(sendmsg(sockets[0], &in_parts, 0));
    SHOW_CALL(sendmmsg(sockets[0], n->gap, 1, 0));
    n->message->msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
    SHOW_CALL(sendmmsg(sockets[0], n->message, 2, 0));
    n->message->msg_hdr = of_nothing;
    SHOW_CALL(sendmmsg(sockets[0], n->message, 1, 0));
}
static void receive_nowhere(struct nowhere const* n, int const sockets[2]) {
    struct msghdr of_nothing = {.msg_iov = n->gap, .msg_iovlen = 1};
    struct msghdr of_cut = {.msg_iov = n->cut, .msg_iovlen = 2};
    if (write(sockets[1], "abcdef", 6) != 6) abort();
    SHOW_CALL(recvmsg(sockets[0], n->gap, 0));
    SHOW_CALL(recvmsg(sockets[0], &of_nothing, 0));
    SHOW_CALL(recvmsg(sockets[0], &of_cut, MSG_WAITALL));
    SHOW_CALL(recvmmsg(sockets[0], n->gap, 1, 0, NULL));
    SHOW_CALL(readv(sockets[0], n->gap, 1));
    SHOW_CALL(readv(sockets[0], n->cut, 2));
}
static void* names_nothing(void* unused) {
    struct nowhere const n = map_nothing();
    char bytes[] = "abcdef";
    struct iovec second_is_nowhere[2] = {{bytes, 3}, {n.gap, 3}};
    int ends[2], sockets[2], packets[2];
    int const file = memfd_create("file", 0);
    if (pipe(ends) != 0) abort();
    connect_locally(sockets);
    connect_by_packets(packets);
    *n.cut = (struct iovec){bytes, 3};
    int const numbers[] = {file, ends[1], sockets[0], -1};
    for (int k = 0; k != 4; ++k) {
        SHOW_CALL(writev(numbers[k], n.gap, 1));
        SHOW_CALL(writev(numbers[k], n.cut, 2));
        SHOW_CALL(writev(numbers[k], second_is_nowhere, 2));
        SHOW_CALL(pwritev(numbers[k], n.gap, 1, 0));
        SHOW_CALL(pwritev(numbers[k], n.cut, 2, 0));
        SHOW_CALL(pwritev2(numbers[k], n.cut, 2, -1, 0));
    }
    if (write(ends[1], "abcdef", 6) != 6 || pwrite(file, "abcdef", 6, 0) != 6) abort();
    int const readable[] = {file, ends[0], -1};
    for (int k = 0; k != 3; ++k) {
        SHOW_CALL(readv(readable[k], n.gap, 1));
        SHOW_CALL(readv(readable[k], n.cut, 2));
        SHOW_CALL(preadv(readable[k], n.gap, 1, 0));
        SHOW_CALL(preadv2(readable[k], n.cut, 2, -1, 0));
        SHOW_CALL(preadv(readable[k], second_is_nowhere, 2, 0));
    }
    SHOW_CALL(vmsplice(ends[1], n.gap, 1, 0));
    fd_set none;
    FD_ZERO(&none);
    SHOW_CALL(select(1, n.gap, NULL, NULL, NULL));
    SHOW_CALL(select(1, NULL, &none, n.gap, NULL));
    SHOW_CALL(pselect(1, n.gap, NULL, NULL, NULL, NULL));
    SHOW_CALL(poll(n.gap, 1, 1));
    SHOW_CALL(nanosleep(n.gap, NULL));
    SHOW(clock_nanosleep(CLOCK_MONOTONIC, 0, n.gap, NULL) == EFAULT);
    send_from_nowhere(&n, sockets);
    send_from_nowhere(&n, packets);
    receive_nowhere(&n, sockets);
    receive_nowhere(&n, packets);
    for (int k = 0; k != 2; ++k) {
        close(ends[k]);
        close(sockets[k]);
        close(packets[k]);
    }
    close(file);
    return unused;
}
void parts_that_are_nowhere(void) { in_both(&names_nothing); }

// --- before the first writer ---------------------------------------------------------------------

static int open_early(char const* path) {
    int const end = open(path, O_RDONLY | O_NONBLOCK);
    fcntl(end, F_SETFL, O_RDONLY);
    return end;
}
static void* transfers_early(void* path) {
    char bytes[8];
    struct iovec parts[2] = {{bytes, 4}, {bytes + 4, 4}};
    int ends[2], to[2];
    if (pipe(ends) != 0) abort();
    connect_locally(to);
    int const end = open_early(path);
    SHOW_CALL(readv(end, parts, 2));
    SHOW_CALL(preadv2(end, parts, 2, -1, 0));
    SHOW_CALL(preadv2(end, parts, 2, -1, RWF_NOWAIT));
    SHOW_CALL(splice(end, NULL, ends[1], NULL, 8, 0));
    SHOW_CALL(splice(end, NULL, to[0], NULL, 8, 0));
    SHOW_CALL(tee(end, ends[1], 8, 0));
    int const other_end = open(path, O_WRONLY);
    if (write(other_end, "abcdef", 6) != 6) abort();
    SHOW_CALL(readv(other_end, parts, 2));
    SHOW_CALL(tee(end, ends[1], 8, 0));
    SHOW_CALL(preadv2(end, parts, 1, -1, RWF_NOWAIT));
    SHOW_CALL(readv(end, parts, 2));
    SHOW_CALL(preadv2(end, parts, 1, -1, RWF_NOWAIT));
    close(other_end);
    SHOW_CALL(readv(end, parts, 2));
    SHOW_CALL(splice(end, NULL, ends[1], NULL, 8, 0));
    close(end);
    for (int k = 0; k != 2; ++k) {
        close(ends[k]);
        close(to[k]);
    }
    return NULL;
}
// A writer comes while a thread waits.
static void* reads_late(void* of) {
    char bytes[8];
    struct iovec part = {bytes, sizeof bytes};
    SHOW_CALL(readv(*(int*)of, &part, 1));
    return NULL;
}
void early_transfers(void) {
    char folder[] = "/tmp/pthread-cases-XXXXXX", path[64];
    if (mkdtemp(folder) == NULL) abort();
    snprintf(path, sizeof path, "%s/pipe", folder);
    if (mkfifo(path, 0600) != 0) abort();
    in_thread(&transfers_early, path);
    int end = open_early(path);
    int const other_end = open(path, O_WRONLY);
    pthread_t reader;
    pthread_create(&reader, NULL, &reads_late, &end);
    usleep(20000);
    if (write(other_end, "abc", 3) != 3) abort();
    pthread_join(reader, NULL);
    close(other_end);
    close(end);
    unlink(path);
    rmdir(folder);
}

// --- beside a writer who goes on, and what errno is afterwards -----------------------------------

enum { k_of_writer = 32 << 20, k_in_pipe = 1 << 16 };
static pid_t start_writer(int const ends[2]) {
    static char bytes[k_in_pipe];
    fflush(stdout);
    pid_t const child = fork();
    if (child != 0) return child;
    close(ends[0]);
    for (long left = k_of_writer; left > 0;) {
        ssize_t const now = write(ends[1], bytes, sizeof bytes);
        if (now <= 0) _exit(1);
        left -= now;
    }
    _exit(0);
}
static void splice_on(int to) {
    int ends[2];
    long all = 0, most = 0, now = 0;
    if (pipe(ends) != 0) abort();
    pid_t const writer = start_writer(ends);
    close(ends[1]);
    while ((now = splice(ends[0], NULL, to, NULL, 1 << 30, 0)) > 0) {
        all += now;
        if (now > most) most = now;
    }
    SHOW(now);
    SHOW(all == k_of_writer);
    SHOW(most <= k_in_pipe);
    SHOW(end_of(writer));
    close(ends[0]);
    close(to);
}
static void* splices_on(void* unused) {
    splice_on(open("/dev/null", O_WRONLY));
    splice_on(memfd_create("file", 0));
    return unused;
}
void spliced_beside_writer(void) { in_thread(&splices_on, NULL); }

static int s_late[2];
static void* writes_late(void* unused) {
    for (int k = 0; k != 3; ++k) {
        usleep(20000);
        if (write(s_late[1], s_page, 8) != 8) abort();
    }
    return unused;
}
static void* receives_slowly(void* from) {
    usleep(20000);
    for (long left = k_large; left > 0;) {
        static char bytes[1 << 20];
        ssize_t const now = read(*(int*)from, bytes, sizeof bytes);
        if (now <= 0) abort();
        left -= now;
    }
    return NULL;
}
#define SHOW_ERRNO(expression)                                                                     \
    do {                                                                                           \
        errno = 0;                                                                                 \
        long const result = (long)(expression);                                                    \
        int const error = errno;                                                                   \
        printf("%s: %ld, errno %d\n", #expression, result, error);                                 \
    } while (0)
static void* moves_late(void* unused) {
    pthread_t other;
    int to[2], ends[2], nothing = open("/dev/null", O_WRONLY);
    if (pipe(s_late) != 0 || pipe(to) != 0) abort();
    pthread_create(&other, NULL, &writes_late, NULL);
    SHOW_ERRNO(tee(s_late[0], to[1], 8, 0));
    SHOW_ERRNO(splice(s_late[0], NULL, to[1], NULL, 8, 0));
    SHOW_ERRNO(splice(s_late[0], NULL, nothing, NULL, 8, 0));
    SHOW_ERRNO(splice(s_late[0], NULL, to[1], NULL, 8, 0));
    pthread_join(other, NULL);
    s_file = memfd_create("file", 0);
    if (ftruncate(s_file, k_large) != 0) abort();
    connect_locally(ends);
    pthread_create(&other, NULL, &receives_slowly, &ends[1]);
    SHOW_ERRNO(sendfile(ends[0], s_file, NULL, k_large));
    pthread_join(other, NULL);
    for (int k = 0; k != 2; ++k) {
        close(s_late[k]);
        close(to[k]);
        close(ends[k]);
    }
    close(s_file);
    close(nothing);
    return unused;
}
void late_transfers(void) { in_both(&moves_late); }

// --- limits of time ------------------------------------------------------------------------------

enum { k_kinds = 11 };
struct limited {
    int ends[2], kind;
    long result;
    unsigned length;
    int error;
};

static long receive_by(int kind, int from, unsigned* length) {
    char bytes[16], room[64];
    struct iovec part = {bytes, 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct msghdr const with_room = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct mmsghdr several = {.msg_hdr = message};
    long result;
    switch (kind) {
        case 0: return recv(from, bytes, 4, MSG_WAITALL);
        case 1: return recvmsg(from, &message, MSG_WAITALL);
        case 2: message = with_room; return recvmsg(from, &message, MSG_WAITALL);
        case 3: return recv(from, bytes, 4, MSG_WAITALL | MSG_PEEK);
        case 4: return recv(from, bytes, sizeof bytes, 0);
        case 5: return read(from, bytes, sizeof bytes);
        case 6: part.iov_len = sizeof bytes; return readv(from, &part, 1);
        case 7: return recvmsg(from, &message, 0);
        case 8: return recv(from, bytes, 8, MSG_WAITALL);
        case 9: return recv(from, bytes, sizeof bytes, MSG_PEEK);
        default:
            result = recvmmsg(from, &several, 1, 0, NULL);
            *length = several.msg_len;
            return result;
    }
}
static void* receives_with_limit(void* of) {
    struct limited* const l = of;
    struct timeval const limit = {0, 900000};
    int const least = 4;
    setsockopt(l->ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (l->kind >= 4) setsockopt(l->ends[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
    l->result = receive_by(l->kind, l->ends[0], &l->length);
    l->error = l->result < 0 ? errno : 0;
    return NULL;
}
// It is the limit of the whole call: the second byte comes too late for it, and would not for one
// that began with the first byte.
void limits_of_whole_messages(void) {
    static struct limited all[2 * k_kinds];
    pthread_t readers[2 * k_kinds];
    for (int k = 0; k != 2 * k_kinds; ++k) {
        all[k].kind = k / 2;
        (k % 2 == 0 ? &connect_by_tcp : &connect_locally)(all[k].ends);
        pthread_create(&readers[k], NULL, &receives_with_limit, &all[k]);
    }
    for (int part = 0; part != 2; ++part) {
        usleep(600000);
        for (int k = 0; k != 2 * k_kinds; ++k)
            if (write(all[k].ends[1], "p", 1) != 1) abort();
    }
    for (int k = 0; k != 2 * k_kinds; ++k) {
        pthread_join(readers[k], NULL);
        struct limited const* const l = &all[k];
        printf("%d: %ld, errno %d, length %u\n", l->kind, l->result, l->error, l->length);
        close(l->ends[0]);
        close(l->ends[1]);
    }
}

// --- a cancellation of who has got a part --------------------------------------------------------

// Not as natively, where nobody is told how much of the message is in the buffer.
static char s_message[8];
static long s_got = -1;
static void* receives_whole_message(void* from) {
    s_got = recv(*(int*)from, s_message, sizeof s_message, MSG_WAITALL);
    pthread_testcancel();
    return NULL;
}
void parts_of_the_cancelled(void) {
    int ends[2];
    for (int k = 0; k != 2; ++k) {
        (k == 0 ? &connect_by_tcp : &connect_locally)(ends);
        pthread_t reader;
        void* result = NULL;
        int left = 3;
        s_got = -1;
        memset(s_message, 0, sizeof s_message);
        if (write(ends[1], "abc", 3) != 3) abort();
        pthread_create(&reader, NULL, &receives_whole_message, &ends[0]);
        while (ioctl(ends[0], FIONREAD, &left) == 0 && left != 0) usleep(1000);
        usleep(20000); // it waits, most times
        pthread_cancel(reader);
        pthread_join(reader, &result);
        SHOW(result == PTHREAD_CANCELED);
        printf("got: %ld %s\n", s_got, s_message);
        if (write(ends[1], "de", 2) != 2) abort();
        memset(s_message, 0, sizeof s_message);
        SHOW_CALL(recv(ends[0], s_message, sizeof s_message, 0));
        puts(s_message);
        close(ends[0]);
        close(ends[1]);
    }
}

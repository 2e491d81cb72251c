/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output that blocks only the calling thread, in C. */
#define _GNU_SOURCE
#include "check.h"

#include <tulle.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const tulle_limit_t k_soon = {2000000, NULL};
static const tulle_limit_t k_late = {50000000000ULL, NULL};

static void check_limits_and_errors(int ours) {
    char c = 0;
    struct iovec part = {&c, 1};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    CHECK(tulle_read_within(ours, &c, 1, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_readv_within(ours, &part, 1, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_recv_within(ours, &c, 1, 0, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_recvfrom_within(ours, &c, 1, 0, NULL, NULL, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_recvmsg_within(ours, &message, 0, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_wait_readable_within(ours, &k_soon) == -ETIMEDOUT);
    CHECK(tulle_wait_writable_within(ours, &k_soon) == 0);
    CHECK(tulle_wait_writable(ours) == 0);
    CHECK(tulle_recv(ours, &c, 1, MSG_DONTWAIT) == -EAGAIN);
    CHECK(tulle_read_within(ours, &c, 1, NULL) == -EINVAL);
    CHECK(tulle_poll_within(NULL, 0, NULL) == -EINVAL);
    CHECK(tulle_read(-1, &c, 1) == -EBADF);
    CHECK(tulle_close(-1) == -EBADF);
    CHECK(tulle_dup2(-1, 5) == -EBADF);
    tulle_cancellation_t* cancelled = NULL;
    CHECK(tulle_cancellation_create(&cancelled, NULL) == 0);
    CHECK(tulle_cancellation_request(cancelled) == 0);
    tulle_limit_t const none = {TULLE_FOREVER, cancelled};
    CHECK(tulle_read_within(ours, &c, 1, &none) == -ECANCELED);
    CHECK(tulle_poll_within(NULL, 0, &none) == -ECANCELED);
    CHECK(tulle_cancellation_destroy(cancelled) == 0);
}

static void check_both_ways(int ours, int theirs) {
    char got[8] = {0};
    char sent[] = "ab";
    struct iovec part = {sent, 2};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    CHECK(tulle_write(theirs, "ab", 2) == 2);
    CHECK(tulle_write_within(theirs, "ab", 2, &k_late) == 2);
    CHECK(tulle_writev(theirs, &part, 1) == 2);
    CHECK(tulle_writev_within(theirs, &part, 1, &k_late) == 2);
    CHECK(tulle_read(ours, got, 8) == 8 && memcmp(got, "abababab", 8) == 0);
    CHECK(tulle_send(theirs, "ab", 2, 0) == 2);
    CHECK(tulle_send_within(theirs, "ab", 2, 0, &k_late) == 2);
    CHECK(tulle_sendto(theirs, "ab", 2, 0, NULL, 0) == 2);
    CHECK(tulle_sendto_within(theirs, "ab", 2, 0, NULL, 0, &k_late) == 2);
    CHECK(tulle_wait_readable(ours) == 0);
    CHECK(tulle_recv(ours, got, 4, 0) == 4);
    CHECK(tulle_recvfrom(ours, got, 4, 0, NULL, NULL) == 4);
    CHECK(tulle_sendmsg(theirs, &message, 0) == 2);
    CHECK(tulle_sendmsg_within(theirs, &message, 0, &k_late) == 2);
    part.iov_base = got;
    CHECK(tulle_recvmsg(ours, &message, 0) == 2);
    CHECK(tulle_readv(ours, &part, 1) == 2);
}

static void check_several(int ours, int theirs) {
    struct pollfd asked[2] = {{ours, POLLIN, 0}, {theirs, POLLIN, 0}};
    fd_set in;
    char c = 0;
    CHECK(tulle_poll_within(asked, 2, &k_soon) == 0);
    CHECK(tulle_write(ours, "s", 1) == 1);
    CHECK(tulle_poll(asked, 2) == 1 && asked[1].revents == POLLIN);
    FD_ZERO(&in);
    FD_SET(theirs, &in);
    CHECK(tulle_select(theirs + 1, &in, NULL, NULL) == 1 && FD_ISSET(theirs, &in));
    CHECK(tulle_read(theirs, &c, 1) == 1);
    CHECK(tulle_select_within(theirs + 1, &in, NULL, NULL, &k_soon) == 0);
}

static void check_connections(void) {
    int const listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0);
    CHECK(listen(listener, 8) == 0);
    CHECK(getsockname(listener, (struct sockaddr*)&address, &size) == 0);
    CHECK(tulle_accept_within(listener, NULL, NULL, 0, &k_soon) == -ETIMEDOUT);
    int const first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int const second = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(tulle_connect(first, (struct sockaddr*)&address, size) == 0);
    CHECK(tulle_connect_within(second, (struct sockaddr*)&address, size, &k_late) == 0);
    int const there = tulle_accept(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(there >= 0);
    CHECK(tulle_close(there) == 0);
    CHECK(tulle_close(first) == 0);
    CHECK(tulle_close(second) == 0);
    CHECK(tulle_close(listener) == 0);
}

static void check_files(void) {
    char name[] = "/tmp/tulle-c-io-XXXXXX";
    char got[6] = {0};
    int const made = mkstemp(name);
    CHECK(made >= 0);
    int const file = tulle_open(name, O_RDWR | O_CLOEXEC, 0);
    CHECK(file >= 0);
    CHECK(tulle_pwrite(file, "there", 5, 0) == 5);
    CHECK(tulle_pwrite_within(file, "x", 1, 5, &k_late) == 1);
    CHECK(tulle_fsync(file) == 0 && tulle_fsync_within(file, &k_late) == 0);
    CHECK(tulle_fdatasync(file) == 0 && tulle_fdatasync_within(file, &k_late) == 0);
    CHECK(tulle_pread(file, got, 6, 0) == 6 && memcmp(got, "therex", 6) == 0);
    CHECK(tulle_pread_within(file, got, 6, 3, &k_late) == 3 && memcmp(got, "rex", 3) == 0);
    CHECK(tulle_open_within("/nowhere/at/all", O_RDONLY, 0, &k_late) == -ENOENT);
    CHECK(tulle_dup2(file, made) == made);
    CHECK(tulle_close(made) == 0);
    CHECK(tulle_close(file) == 0);
    CHECK(unlink(name) == 0);
}

static void check_outside(void) {
    struct addrinfo hints;
    struct addrinfo* found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    CHECK(tulle_getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
    freeaddrinfo(found);
    CHECK(tulle_getaddrinfo_within("no number", "80", &hints, &found, &k_late) == EAI_NONAME);
    int status = 0;
    pid_t const child = fork();
    if (child == 0) _exit(3);
    CHECK(tulle_waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(tulle_waitpid_within(child, &status, 0, &k_late) == -ECHILD);
}

int main(void) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    check_limits_and_errors(ends[0]);
    check_both_ways(ends[0], ends[1]);
    check_several(ends[0], ends[1]);
    check_connections();
    check_files();
    check_outside();
    CHECK(tulle_close(ends[0]) == 0);
    CHECK(tulle_close(ends[1]) == 0);
    return 0;
}

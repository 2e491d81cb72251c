/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output on file descriptors that blocks only the calling thread, for C11 and C++20. The
 * functions take and do what those of the same names in POSIX.1-2017 do, but for this: errors are
 * negative errno values, and `errno` is left alone; they do not end with EINTR; they wait whether
 * O_NONBLOCK is set or not; SO_RCVTIMEO, SO_SNDTIMEO and SO_RCVLOWAT have no effect. Those with a
 * limit end with -ETIMEDOUT or -ECANCELED when it is reached, and nothing has been transferred
 * then; a limit that has been reached before makes a try. A null limit is -EINVAL. Which files
 * block a worker, and what helper OS threads do, is said in <tulle/io.hpp>. */
#ifndef TULLE_DETAIL_IO_H
#define TULLE_DETAIL_IO_H

#include <tulle/c/cancel.h>
#include <tulle/detail/visibility.h>

#include <stddef.h>

#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct addrinfo; /* <netdb.h> */

/* Bytes, or a negative errno value. */
TULLE_API ssize_t tulle_read(int descriptor, void* buffer, size_t size);
TULLE_API ssize_t tulle_read_within(int descriptor, void* buffer, size_t size,
                                    const tulle_limit_t* limit);
TULLE_API ssize_t tulle_readv(int descriptor, const struct iovec* parts, int count);
TULLE_API ssize_t tulle_readv_within(int descriptor, const struct iovec* parts, int count,
                                     const tulle_limit_t* limit);
TULLE_API ssize_t tulle_write(int descriptor, const void* buffer, size_t size);
TULLE_API ssize_t tulle_write_within(int descriptor, const void* buffer, size_t size,
                                     const tulle_limit_t* limit);
TULLE_API ssize_t tulle_writev(int descriptor, const struct iovec* parts, int count);
TULLE_API ssize_t tulle_writev_within(int descriptor, const struct iovec* parts, int count,
                                      const tulle_limit_t* limit);
TULLE_API ssize_t tulle_pread(int descriptor, void* buffer, size_t size, off_t offset);
TULLE_API ssize_t tulle_pread_within(int descriptor, void* buffer, size_t size, off_t offset,
                                     const tulle_limit_t* limit);
TULLE_API ssize_t tulle_pwrite(int descriptor, const void* buffer, size_t size, off_t offset);
TULLE_API ssize_t tulle_pwrite_within(int descriptor, const void* buffer, size_t size, off_t offset,
                                      const tulle_limit_t* limit);

/* MSG_DONTWAIT in `flags`: -EAGAIN instead of a wait. */
TULLE_API ssize_t tulle_recv(int socket, void* buffer, size_t size, int flags);
TULLE_API ssize_t tulle_recv_within(int socket, void* buffer, size_t size, int flags,
                                    const tulle_limit_t* limit);
TULLE_API ssize_t tulle_recvfrom(int socket, void* buffer, size_t size, int flags,
                                 struct sockaddr* address, socklen_t* length);
TULLE_API ssize_t tulle_recvfrom_within(int socket, void* buffer, size_t size, int flags,
                                        struct sockaddr* address, socklen_t* length,
                                        const tulle_limit_t* limit);
TULLE_API ssize_t tulle_recvmsg(int socket, struct msghdr* message, int flags);
TULLE_API ssize_t tulle_recvmsg_within(int socket, struct msghdr* message, int flags,
                                       const tulle_limit_t* limit);
TULLE_API ssize_t tulle_send(int socket, const void* buffer, size_t size, int flags);
TULLE_API ssize_t tulle_send_within(int socket, const void* buffer, size_t size, int flags,
                                    const tulle_limit_t* limit);
TULLE_API ssize_t tulle_sendto(int socket, const void* buffer, size_t size, int flags,
                               const struct sockaddr* address, socklen_t length);
TULLE_API ssize_t tulle_sendto_within(int socket, const void* buffer, size_t size, int flags,
                                      const struct sockaddr* address, socklen_t length,
                                      const tulle_limit_t* limit);
TULLE_API ssize_t tulle_sendmsg(int socket, const struct msghdr* message, int flags);
TULLE_API ssize_t tulle_sendmsg_within(int socket, const struct msghdr* message, int flags,
                                       const tulle_limit_t* limit);

/* A new socket. `flags`: SOCK_NONBLOCK, SOCK_CLOEXEC. */
TULLE_API int tulle_accept(int socket, struct sockaddr* address, socklen_t* length, int flags);
TULLE_API int tulle_accept_within(int socket, struct sockaddr* address, socklen_t* length,
                                  int flags, const tulle_limit_t* limit);
/* When the limit was reached, the connection is still being made: another call waits for it, or
 * close the socket. */
TULLE_API int tulle_connect(int socket, const struct sockaddr* address, socklen_t length);
TULLE_API int tulle_connect_within(int socket, const struct sockaddr* address, socklen_t length,
                                   const tulle_limit_t* limit);

/* -EPERM: of this kind of file it is not known. */
TULLE_API int tulle_wait_readable(int descriptor);
TULLE_API int tulle_wait_readable_within(int descriptor, const tulle_limit_t* limit);
TULLE_API int tulle_wait_writable(int descriptor);
TULLE_API int tulle_wait_writable_within(int descriptor, const tulle_limit_t* limit);
/* How many are ready; 0: the time of the limit is up. */
TULLE_API int tulle_poll(struct pollfd* asked, size_t count);
TULLE_API int tulle_poll_within(struct pollfd* asked, size_t count, const tulle_limit_t* limit);
TULLE_API int tulle_select(int count, fd_set* read, fd_set* write, fd_set* except);
TULLE_API int tulle_select_within(int count, fd_set* read, fd_set* write, fd_set* except,
                                  const tulle_limit_t* limit);

/* A new descriptor. */
TULLE_API int tulle_open(const char* path, int flags, mode_t mode);
TULLE_API int tulle_open_within(const char* path, int flags, mode_t mode,
                                const tulle_limit_t* limit);
/* What was written is on the disk afterwards. */
TULLE_API int tulle_fsync(int descriptor);
TULLE_API int tulle_fsync_within(int descriptor, const tulle_limit_t* limit);
TULLE_API int tulle_fdatasync(int descriptor);
TULLE_API int tulle_fdatasync_within(int descriptor, const tulle_limit_t* limit);
/* They end waits of other threads for the descriptor, or for `to`, with -EBADF. */
TULLE_API int tulle_close(int descriptor);
TULLE_API int tulle_dup2(int from, int to);

/* The number of the child, or 0 with WNOHANG. */
TULLE_API pid_t tulle_waitpid(pid_t pid, int* status, int options);
TULLE_API pid_t tulle_waitpid_within(pid_t pid, int* status, int options,
                                     const tulle_limit_t* limit);
/* 0, a code of gai_strerror(3), or -ETIMEDOUT or -ECANCELED, which are none of those. */
TULLE_API int tulle_getaddrinfo(const char* host, const char* service, const struct addrinfo* hints,
                                struct addrinfo** found);
TULLE_API int tulle_getaddrinfo_within(const char* host, const char* service,
                                       const struct addrinfo* hints, struct addrinfo** found,
                                       const tulle_limit_t* limit);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
// Input and output on file descriptors that blocks only the calling thread: its worker runs others
// until the descriptor is ready. The calls take and do what those of the same names in POSIX.1-2017
// do, but for this:
//   - They say errors as negative errno values and leave `errno` alone, which belongs to the OS
//     thread: a thread may come back on another one.
//   - They do not end with EINTR: a signal handler runs, and the wait goes on.
//   - They wait whether O_NONBLOCK is set or not, and do not change it, but for connect, which sets
//     it for the moment in which a connection is begun.
//   - SO_RCVTIMEO, SO_SNDTIMEO and SO_RCVLOWAT of a socket have no effect.
//   - With a limit they end with -ETIMEDOUT or -ECANCELED when it is reached, and nothing has
//     been transferred then. A limit that has been reached already makes a try of them.
// Sockets, pipes, terminals, and what else epoll(7) can wait for block only the thread. Of other
// files, such as regular ones, what the system has in memory is read and written at once; where it
// would go to the disk, a helper OS thread makes the call, as it does for open, fsync and
// getaddrinfo. There are 16 of them at most; the limit of such a call ends the wait for one, not
// the call once it has begun. A write that the system takes without a try, as most file systems do,
// is made by the worker.
// A descriptor that other threads wait for is closed by close() here, or replaced by dup2() here:
// their waits end with -EBADF. Waits that begin after close(2) or dup2(2) are for the new file.
// Contexts: any thread of the process. In a deterministic run the OS thread waits with the caller.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/wait_limit.hpp>

#include <cstddef>

#include <netdb.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace tulle::io {

// Bytes, or a negative errno value; 0 from a read: the end of the input.
TULLE_API ssize_t read(int descriptor, void* buffer, std::size_t size) noexcept;
TULLE_API ssize_t read(int descriptor, void* buffer, std::size_t size,
                       wait_limit const& limit) noexcept;
TULLE_API ssize_t readv(int descriptor, iovec const* parts, int count) noexcept;
TULLE_API ssize_t readv(int descriptor, iovec const* parts, int count,
                        wait_limit const& limit) noexcept;
// They may write less than `size`, as there.
TULLE_API ssize_t write(int descriptor, void const* buffer, std::size_t size) noexcept;
TULLE_API ssize_t write(int descriptor, void const* buffer, std::size_t size,
                        wait_limit const& limit) noexcept;
TULLE_API ssize_t writev(int descriptor, iovec const* parts, int count) noexcept;
TULLE_API ssize_t writev(int descriptor, iovec const* parts, int count,
                         wait_limit const& limit) noexcept;
// They do not change the position in the file. A limit: see above.
TULLE_API ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) noexcept;
TULLE_API ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset,
                        wait_limit const& limit) noexcept;
TULLE_API ssize_t pwrite(int descriptor, void const* buffer, std::size_t size,
                         off_t offset) noexcept;
TULLE_API ssize_t pwrite(int descriptor, void const* buffer, std::size_t size, off_t offset,
                         wait_limit const& limit) noexcept;

// `flags`: as there; MSG_DONTWAIT: -EAGAIN instead of a wait.
TULLE_API ssize_t recv(int socket, void* buffer, std::size_t size, int flags) noexcept;
TULLE_API ssize_t recv(int socket, void* buffer, std::size_t size, int flags,
                       wait_limit const& limit) noexcept;
TULLE_API ssize_t recvfrom(int socket, void* buffer, std::size_t size, int flags, sockaddr* address,
                           socklen_t* length) noexcept;
TULLE_API ssize_t recvfrom(int socket, void* buffer, std::size_t size, int flags, sockaddr* address,
                           socklen_t* length, wait_limit const& limit) noexcept;
TULLE_API ssize_t recvmsg(int socket, msghdr* message, int flags) noexcept;
TULLE_API ssize_t recvmsg(int socket, msghdr* message, int flags, wait_limit const& limit) noexcept;
TULLE_API ssize_t send(int socket, void const* buffer, std::size_t size, int flags) noexcept;
TULLE_API ssize_t send(int socket, void const* buffer, std::size_t size, int flags,
                       wait_limit const& limit) noexcept;
TULLE_API ssize_t sendto(int socket, void const* buffer, std::size_t size, int flags,
                         sockaddr const* address, socklen_t length) noexcept;
TULLE_API ssize_t sendto(int socket, void const* buffer, std::size_t size, int flags,
                         sockaddr const* address, socklen_t length,
                         wait_limit const& limit) noexcept;
TULLE_API ssize_t sendmsg(int socket, msghdr const* message, int flags) noexcept;
TULLE_API ssize_t sendmsg(int socket, msghdr const* message, int flags,
                          wait_limit const& limit) noexcept;

// A new socket, or a negative errno value. `flags`: SOCK_NONBLOCK, SOCK_CLOEXEC. On a listening
// socket without O_NONBLOCK, where others may take the connection first, a helper OS thread makes
// the call; with O_NONBLOCK the worker does, which is faster. The first call takes two descriptors,
// with which threads wait; where these are short it says EMFILE and accepts nothing.
TULLE_API int accept(int socket, sockaddr* address, socklen_t* length, int flags = 0) noexcept;
TULLE_API int accept(int socket, sockaddr* address, socklen_t* length, int flags,
                     wait_limit const& limit) noexcept;
// 0 or a negative errno value. -ETIMEDOUT and -ECANCELED of a limit leave a connection that is
// still being made; another call waits for it, or close the socket then.
TULLE_API int connect(int socket, sockaddr const* address, socklen_t length) noexcept;
TULLE_API int connect(int socket, sockaddr const* address, socklen_t length,
                      wait_limit const& limit) noexcept;

// Until a read or a write would not block, or there is an error to be told; a regular file is
// always ready. 0 or a negative errno value; -EPERM: of this kind of file it is not known.
TULLE_API int wait_readable(int descriptor) noexcept;
TULLE_API int wait_readable(int descriptor, wait_limit const& limit) noexcept;
TULLE_API int wait_writable(int descriptor) noexcept;
TULLE_API int wait_writable(int descriptor, wait_limit const& limit) noexcept;

// How many of them are ready, 0 when the time of the limit is up, or a negative errno value
// (-EMFILE too: a wait for several takes a descriptor of its own).
TULLE_API int poll(pollfd* asked, std::size_t count) noexcept;
TULLE_API int poll(pollfd* asked, std::size_t count, wait_limit const& limit) noexcept;
// The same, for numbers below `count`; the sets may be null. When the time is up, they are empty.
TULLE_API int select(int count, fd_set* read, fd_set* write, fd_set* except) noexcept;
TULLE_API int select(int count, fd_set* read, fd_set* write, fd_set* except,
                     wait_limit const& limit) noexcept;

// A new descriptor, or a negative errno value.
TULLE_API int open(char const* path, int flags, mode_t mode = 0) noexcept;
TULLE_API int open(char const* path, int flags, mode_t mode, wait_limit const& limit) noexcept;
// 0 or a negative errno value.
TULLE_API int fsync(int descriptor) noexcept;
TULLE_API int fsync(int descriptor, wait_limit const& limit) noexcept;
TULLE_API int fdatasync(int descriptor) noexcept;
TULLE_API int fdatasync(int descriptor, wait_limit const& limit) noexcept;
// Closes it, and ends with -EBADF the calls above that wait for it. 0 or a negative errno value:
// -EBADF also for a file of the run time's own.
TULLE_API int close(int descriptor) noexcept;
// The number `to` is closed, as above, and becomes another one for the file of `from`. `to`, or a
// negative errno value: of files of the run time's own -EBUSY for `to` and -EBADF for `from`.
TULLE_API int dup2(int from, int to) noexcept;

// The child's number, 0 with WNOHANG, or a negative errno value.
TULLE_API pid_t waitpid(pid_t pid, int* status, int options) noexcept;
TULLE_API pid_t waitpid(pid_t pid, int* status, int options, wait_limit const& limit) noexcept;
// 0, a code of gai_strerror(3), or -ETIMEDOUT or -ECANCELED, which are none of those. The result is
// for freeaddrinfo(3).
TULLE_API int getaddrinfo(char const* host, char const* service, addrinfo const* hints,
                          addrinfo** found) noexcept;
TULLE_API int getaddrinfo(char const* host, char const* service, addrinfo const* hints,
                          addrinfo** found, wait_limit const& limit) noexcept;

} // namespace tulle::io

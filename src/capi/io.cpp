// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/io.h>.
#include "capi/limit.hpp"

#include <tulle/c/io.h>
#include <tulle/cancellation.hpp>
#include <tulle/io.hpp>

#include <cerrno>

namespace tulle::capi {
namespace {

// call(limit)
template <class Call>
auto io_within(tulle_limit_t const* l, Call call) noexcept -> decltype(call(wait_limit::of({}))) {
    if (l == nullptr) return -EINVAL;
    return call(wait_limit::of(limit_of(*l)));
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;
using tulle::wait_limit;
namespace io = tulle::io;

ssize_t tulle_read(int descriptor, void* buffer, size_t size) {
    return io::read(descriptor, buffer, size);
}

ssize_t tulle_read_within(int descriptor, void* buffer, size_t size, const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::read(descriptor, buffer, size, l); });
}

ssize_t tulle_readv(int descriptor, const struct iovec* parts, int count) {
    return io::readv(descriptor, parts, count);
}

ssize_t tulle_readv_within(int descriptor, const struct iovec* parts, int count,
                           const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::readv(descriptor, parts, count, l); });
}

ssize_t tulle_write(int descriptor, const void* buffer, size_t size) {
    return io::write(descriptor, buffer, size);
}

ssize_t tulle_write_within(int descriptor, const void* buffer, size_t size,
                           const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::write(descriptor, buffer, size, l); });
}

ssize_t tulle_writev(int descriptor, const struct iovec* parts, int count) {
    return io::writev(descriptor, parts, count);
}

ssize_t tulle_writev_within(int descriptor, const struct iovec* parts, int count,
                            const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::writev(descriptor, parts, count, l); });
}

ssize_t tulle_pread(int descriptor, void* buffer, size_t size, off_t offset) {
    return io::pread(descriptor, buffer, size, offset);
}

ssize_t tulle_pread_within(int descriptor, void* buffer, size_t size, off_t offset,
                           const tulle_limit_t* limit) {
    return io_within(
        limit, [=](wait_limit const& l) { return io::pread(descriptor, buffer, size, offset, l); });
}

ssize_t tulle_pwrite(int descriptor, const void* buffer, size_t size, off_t offset) {
    return io::pwrite(descriptor, buffer, size, offset);
}

ssize_t tulle_pwrite_within(int descriptor, const void* buffer, size_t size, off_t offset,
                            const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) {
        return io::pwrite(descriptor, buffer, size, offset, l);
    });
}

ssize_t tulle_recv(int socket, void* buffer, size_t size, int flags) {
    return io::recv(socket, buffer, size, flags);
}

ssize_t tulle_recv_within(int socket, void* buffer, size_t size, int flags,
                          const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::recv(socket, buffer, size, flags, l); });
}

ssize_t tulle_recvfrom(int socket, void* buffer, size_t size, int flags, struct sockaddr* address,
                       socklen_t* length) {
    return io::recvfrom(socket, buffer, size, flags, address, length);
}

ssize_t tulle_recvfrom_within(int socket, void* buffer, size_t size, int flags,
                              struct sockaddr* address, socklen_t* length,
                              const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) {
        return io::recvfrom(socket, buffer, size, flags, address, length, l);
    });
}

ssize_t tulle_recvmsg(int socket, struct msghdr* message, int flags) {
    return io::recvmsg(socket, message, flags);
}

ssize_t tulle_recvmsg_within(int socket, struct msghdr* message, int flags,
                             const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::recvmsg(socket, message, flags, l); });
}

ssize_t tulle_send(int socket, const void* buffer, size_t size, int flags) {
    return io::send(socket, buffer, size, flags);
}

ssize_t tulle_send_within(int socket, const void* buffer, size_t size, int flags,
                          const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::send(socket, buffer, size, flags, l); });
}

ssize_t tulle_sendto(int socket, const void* buffer, size_t size, int flags,
                     const struct sockaddr* address, socklen_t length) {
    return io::sendto(socket, buffer, size, flags, address, length);
}

ssize_t tulle_sendto_within(int socket, const void* buffer, size_t size, int flags,
                            const struct sockaddr* address, socklen_t length,
                            const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) {
        return io::sendto(socket, buffer, size, flags, address, length, l);
    });
}

ssize_t tulle_sendmsg(int socket, const struct msghdr* message, int flags) {
    return io::sendmsg(socket, message, flags);
}

ssize_t tulle_sendmsg_within(int socket, const struct msghdr* message, int flags,
                             const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::sendmsg(socket, message, flags, l); });
}

int tulle_accept(int socket, struct sockaddr* address, socklen_t* length, int flags) {
    return io::accept(socket, address, length, flags);
}

int tulle_accept_within(int socket, struct sockaddr* address, socklen_t* length, int flags,
                        const tulle_limit_t* limit) {
    return io_within(
        limit, [=](wait_limit const& l) { return io::accept(socket, address, length, flags, l); });
}

int tulle_connect(int socket, const struct sockaddr* address, socklen_t length) {
    return io::connect(socket, address, length);
}

int tulle_connect_within(int socket, const struct sockaddr* address, socklen_t length,
                         const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::connect(socket, address, length, l); });
}

int tulle_wait_readable(int descriptor) { return io::wait_readable(descriptor); }

int tulle_wait_readable_within(int descriptor, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::wait_readable(descriptor, l); });
}

int tulle_wait_writable(int descriptor) { return io::wait_writable(descriptor); }

int tulle_wait_writable_within(int descriptor, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::wait_writable(descriptor, l); });
}

int tulle_poll(struct pollfd* asked, size_t count) { return io::poll(asked, count); }

int tulle_poll_within(struct pollfd* asked, size_t count, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::poll(asked, count, l); });
}

int tulle_select(int count, fd_set* read, fd_set* write, fd_set* except) {
    return io::select(count, read, write, except);
}

int tulle_select_within(int count, fd_set* read, fd_set* write, fd_set* except,
                        const tulle_limit_t* limit) {
    return io_within(
        limit, [=](wait_limit const& l) { return io::select(count, read, write, except, l); });
}

int tulle_open(const char* path, int flags, mode_t mode) { return io::open(path, flags, mode); }

int tulle_open_within(const char* path, int flags, mode_t mode, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::open(path, flags, mode, l); });
}

int tulle_fsync(int descriptor) { return io::fsync(descriptor); }

int tulle_fsync_within(int descriptor, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::fsync(descriptor, l); });
}

int tulle_fdatasync(int descriptor) { return io::fdatasync(descriptor); }

int tulle_fdatasync_within(int descriptor, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) { return io::fdatasync(descriptor, l); });
}

int tulle_close(int descriptor) { return io::close(descriptor); }

int tulle_dup2(int from, int to) { return io::dup2(from, to); }

pid_t tulle_waitpid(pid_t pid, int* status, int options) {
    return io::waitpid(pid, status, options);
}

pid_t tulle_waitpid_within(pid_t pid, int* status, int options, const tulle_limit_t* limit) {
    return io_within(limit,
                     [=](wait_limit const& l) { return io::waitpid(pid, status, options, l); });
}

int tulle_getaddrinfo(const char* host, const char* service, const struct addrinfo* hints,
                      struct addrinfo** found) {
    return io::getaddrinfo(host, service, hints, found);
}

int tulle_getaddrinfo_within(const char* host, const char* service, const struct addrinfo* hints,
                             struct addrinfo** found, const tulle_limit_t* limit) {
    return io_within(limit, [=](wait_limit const& l) {
        return io::getaddrinfo(host, service, hints, found, l);
    });
}

// SPDX-License-Identifier: Apache-2.0
// Each call tries without blocking, waits until the descriptor is ready, and tries again. Where the
// system has no such try of a file, it is not known whether one that is ready waits in the system
// all the same, as another thread has been faster.
#include "io/tries.hpp"
#include "os/private_descriptor.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::io {

ssize_t result_of(ssize_t said) noexcept { return said >= 0 ? said : -errno; }

bool is_ready(int number, direction way) noexcept {
    pollfd asked{number, static_cast<short>(way == direction::in ? POLLIN : POLLOUT), 0};
    return ::poll(&asked, 1, 0) > 0;
}

namespace {

// Of a socket of datagrams that has been shut down only a call that waits says so (0), and a try
// goes on saying EAGAIN. So once a wait has ended in vain the socket is asked, and tried once more:
// what had come by then is received.
class tries_of_input {
public:
    // `at_end`: a call that waits, which is soon over.
    template <class Try, class AtEnd>
    [[nodiscard]] ssize_t make(int number, Try try_once, AtEnd at_end) noexcept {
        ssize_t const first = try_once();
        bool const is_again = would_block(first) && std::exchange(m_has_waited, true);
        if (!is_again || !is_shut_down(number)) return first;
        ssize_t const last = try_once();
        return would_block(last) ? at_end() : last;
    }

private:
    TULLE_NOINLINE static bool is_shut_down(int number) noexcept {
        int type = 0;
        socklen_t size = sizeof type;
        if (::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
        pollfd asked{number, POLLRDHUP, 0};
        return (type == SOCK_DGRAM || type == SOCK_RAW) && ::poll(&asked, 1, 0) > 0 &&
               (asked.revents & POLLRDHUP) != 0;
    }

    bool m_has_waited = false;
};

// recv and send of sockets are shorter ways through the system. Not for nothing, which is something
// else to datagrams.
bool is_for_socket(int number, iovec const* parts, int count) noexcept {
    return count == 1 && parts != nullptr && parts->iov_len != 0 &&
           reactor::instance().was_socket(number);
}

bool is_regular_file(int number) noexcept {
    struct stat found {};
    return ::fstat(number, &found) == 0 && S_ISREG(found.st_mode);
}

// The system tries only what it has in memory of a file, which may be less than there is.
ssize_t read_rest(int number, iovec const& whole, ssize_t begun,
                  detail::limit const& until) noexcept {
    auto const done = static_cast<std::size_t>(begun);
    if (begun <= 0 || done >= whole.iov_len || !is_regular_file(number)) return begun;
    ssize_t const more = on_helper(until, [=] {
        return result_of(
            ::read(number, static_cast<char*>(whole.iov_base) + done, whole.iov_len - done));
    });
    return more > 0 ? begun + more : begun;
}

// While it is held no other thread reads on where the caller does: two parts of a file are to lie
// side by side that are read one after the other. False: the limit was reached before.
class turn_to_read {
public:
    turn_to_read(int number, detail::limit const& until) noexcept
        : m_turn(reactor::instance().turn_to_read(number)),
          m_is_own(m_turn == nullptr || m_turn->lock(wait_limit::of(until))) {}
    turn_to_read(turn_to_read const&) = delete;
    turn_to_read& operator=(turn_to_read const&) = delete;
    ~turn_to_read() {
        if (m_turn != nullptr && m_is_own) m_turn->unlock();
    }
    explicit operator bool() const noexcept { return m_is_own; }

private:
    mutex* m_turn;
    bool m_is_own;
};

ssize_t try_to_read(int number, iovec const* parts, int count,
                    detail::limit const& until) noexcept {
    turn_to_read const turn(number, until);
    if (!turn) return -EAGAIN;
    ssize_t const tried = result_of(::preadv2(number, parts, count, -1, RWF_NOWAIT));
    return count == 1 && tried > 0 ? read_rest(number, *parts, tried, until) : tried;
}

ssize_t read_parts(int number, iovec const* parts, int count, detail::limit const& until) noexcept {
    std::size_t const size = count == 1 && parts != nullptr ? parts->iov_len : k_unknown_size;
    tries_of_input tries;
    auto const attempt = [=, &until, &tries](bool may_block) {
        if (!may_block && is_for_socket(number, parts, count)) {
            auto const receive = [=](int flags) {
                return result_of(::recv(number, parts->iov_base, parts->iov_len, flags));
            };
            ssize_t const tried = tries.make(
                number, [=] { return receive(MSG_DONTWAIT); }, [=] { return receive(0); });
            if (tried != -ENOTSOCK) return tried;
        }
        if (!may_block) {
            ssize_t const tried = tries.make(
                number, [=, &until] { return try_to_read(number, parts, count, until); },
                [=] { return result_of(::readv(number, parts, count)); });
            if (!has_no_try(tried)) return tried;
        }
        return if_ready(number, direction::in, may_block,
                        [=] { return ::readv(number, parts, count); });
    };
    return until_done(number, direction::in, until, size, attempt, [&]() -> ssize_t {
        turn_to_read const turn(number, until);
        if (!turn) return -end_of(wait::limit<parking>(until));
        return on_helper(until, [&] { return attempt(true); });
    });
}

ssize_t write_parts(int number, iovec const* parts, int count,
                    detail::limit const& until) noexcept {
    return until_done(number, direction::out, until, k_unknown_size, [=](bool may_block) {
        if (!may_block && is_for_socket(number, parts, count)) {
            ssize_t const tried =
                result_of(::send(number, parts->iov_base, parts->iov_len, MSG_DONTWAIT));
            if (tried != -ENOTSOCK) return tried;
        }
        if (!may_block) {
            ssize_t const tried = result_of(::pwritev2(number, parts, count, -1, RWF_NOWAIT));
            if (!has_no_try(tried)) return tried;
        }
        return if_ready(number, direction::out, may_block,
                        [=] { return ::writev(number, parts, count); });
    });
}

// MSG_DONTWAIT of the caller: it does not want to wait. Nobody waits for errors and urgent data.
constexpr int k_do_not_wait = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;

// Of sockets the system can always try.
template <class Call>
ssize_t on_socket(int number, direction way, int flags, detail::limit const& until,
                  std::size_t size, Call call) noexcept {
    if ((flags & k_do_not_wait) != 0) return result_of(call(flags));
    tries_of_input tries;
    auto const try_once = [=] { return result_of(call(flags | MSG_DONTWAIT)); };
    return until_done(number, way, until, size, [=, &tries](bool) {
        if (way == direction::out) return try_once();
        return tries.make(number, try_once, [=] { return result_of(call(flags)); });
    });
}

bool is_stream(int socket) noexcept {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// Whether MSG_WAITALL asks for more than a first call has got.
bool wants_rest(int socket, int flags, ssize_t got, std::size_t size) noexcept {
    return (flags & MSG_WAITALL) != 0 && (flags & (k_do_not_wait | MSG_PEEK)) == 0 && got > 0 &&
           static_cast<std::size_t>(got) < size && is_stream(socket);
}

// receive(done) puts what comes behind so many bytes. What has come before an end or an error is
// the result; the next call tells of that.
template <class Receive>
ssize_t receive_whole(int socket, int flags, std::size_t size, Receive receive) noexcept {
    ssize_t got = receive(std::size_t{0});
    if (!wants_rest(socket, flags, got, size)) return got;
    while (static_cast<std::size_t>(got) < size) {
        ssize_t const more = receive(static_cast<std::size_t>(got));
        if (more <= 0) break;
        got += more;
    }
    return got;
}

std::size_t size_of(msghdr const& message) noexcept {
    std::size_t size = 0;
    for (std::size_t k = 0; k < message.msg_iovlen; ++k) size += message.msg_iov[k].iov_len;
    return size;
}

// Behind what a first call has got of a message.
ssize_t receive_rest(int socket, msghdr const& message, int flags, ssize_t got,
                     wait_limit const& limit) noexcept {
    auto skipped = static_cast<std::size_t>(got);
    for (std::size_t k = 0; k < message.msg_iovlen; ++k) {
        iovec const& part = message.msg_iov[k];
        std::size_t const begun = std::min(skipped, part.iov_len);
        std::size_t const size = part.iov_len - begun;
        skipped -= begun;
        if (size == 0) continue;
        ssize_t const more =
            recv(socket, static_cast<char*>(part.iov_base) + begun, size, flags, limit);
        if (more > 0) got += more;
        if (more < 0 || static_cast<std::size_t>(more) != size) break;
    }
    return got;
}

TULLE_NOINLINE bool is_nonblocking(int number) noexcept {
    int const flags = ::fcntl(number, F_GETFL);
    return flags < 0 || (flags & O_NONBLOCK) != 0; // negative: the next call says why
}

// The system has no try on a listening socket that blocks, and another process may be faster after
// the event: then a helper waits, not a worker. Of the threads that the event has woken one at a
// time looks, so that the others do not keep helpers until more clients come.
ssize_t try_to_accept(int socket, sockaddr* address, socklen_t* length, int flags,
                      detail::limit const& until) noexcept {
    auto const call = [=] { return result_of(::accept4(socket, address, length, flags)); };
    if (is_nonblocking(socket)) return call();
    if (!is_ready(socket, direction::in)) return -EAGAIN;
    std::mutex* const turn = reactor::instance().turn_to_accept(socket);
    return on_helper(until, [=] {
        auto const held =
            turn != nullptr ? std::unique_lock(*turn) : std::unique_lock<std::mutex>();
        return is_ready(socket, direction::in) ? call() : -EAGAIN;
    });
}

int accept_one(int socket, sockaddr* address, socklen_t* length, int flags,
               detail::limit const& until) noexcept {
    if (int const error = reactor::instance().prepare()) return -error;
    auto const attempt = [=, &until](bool /*may_block*/) {
        return try_to_accept(socket, address, length, flags, until);
    };
    ssize_t const made = until_done(socket, direction::in, until, k_unknown_size, attempt);
    if (made >= 0) reactor::instance().expect_new(static_cast<int>(made));
    return static_cast<int>(made);
}

// A socket that is connected without blocking, though it was not made so.
class unblocked {
public:
    explicit unblocked(int socket) noexcept : m_socket(socket), m_flags(::fcntl(socket, F_GETFL)) {
        if (changes()) ::fcntl(m_socket, F_SETFL, m_flags | O_NONBLOCK);
    }
    unblocked(unblocked const&) = delete;
    unblocked& operator=(unblocked const&) = delete;
    ~unblocked() {
        if (changes()) ::fcntl(m_socket, F_SETFL, m_flags);
    }

private:
    [[nodiscard]] bool changes() const noexcept {
        return m_flags >= 0 && (m_flags & O_NONBLOCK) == 0;
    }

    int m_socket;
    int m_flags; // negative: it is no descriptor
};

TULLE_NOINLINE int begin_to_connect(int socket, sockaddr const* address,
                                    socklen_t length) noexcept {
    unblocked const for_now(socket);
    return static_cast<int>(result_of(::connect(socket, address, length)));
}

bool is_tcp(int socket) noexcept {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &value, &size) == 0 &&
           value == IPPROTO_TCP;
}

// Once there is a connection, or none any more. A call that blocks notes in the socket that its
// caller knows: then another call makes a new connection where this one was refused, or says that
// there is one (EISCONN). Of TCP a second call notes that, too, and does not wait.
TULLE_NOINLINE int outcome_of_connect(int socket, sockaddr const* address,
                                      socklen_t length) noexcept {
    if (is_tcp(socket)) {
        auto const again = static_cast<int>(result_of(::connect(socket, address, length)));
        return again == -EISCONN ? 0 : again;
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return -errno;
    return -error;
}

bool is_being_connected(int result) noexcept {
    return result == -EINPROGRESS || result == -EALREADY || result == -EINTR;
}

// An event of another file that had this number before may end a wait too early.
int wait_for_connection(int socket, event_count seen, detail::limit const& until) noexcept {
    for (;;) {
        int const error =
            reactor::instance().wait(socket, direction::out, seen, wait::limit<parking>(until));
        if (error != 0) return error;
        seen = reactor::instance().look(socket, direction::out);
        if (is_ready(socket, direction::out)) return 0;
    }
}

// A connection to a socket of the same host whose queue is full is not begun: EAGAIN (unix(7)).
// Nothing tells when there is room.
int connect_to(int socket, sockaddr const* address, socklen_t length,
               detail::limit const& until) noexcept {
    for (pauses between;;) {
        reactor::instance().expect_new(socket); // often it is one, made by the system's call
        event_count const seen = reactor::instance().look(socket, direction::out);
        int const begun = begin_to_connect(socket, address, length);
        if (begun == -EAGAIN) {
            if (int const error = between.pause(until)) return -error;
            continue;
        }
        if (!is_being_connected(begun)) return begun;
        if (int const error = wait_for_connection(socket, seen, until)) return -error;
        int const outcome = outcome_of_connect(socket, address, length);
        if (!is_being_connected(outcome)) return outcome;
    }
}

// The receiver's queue may be full while the socket is said to be ready (unix(7)).
ssize_t send_to_name(int socket, msghdr const* message, int flags,
                     detail::limit const& until) noexcept {
    for (pauses between;;) {
        ssize_t const result = result_of(::sendmsg(socket, message, flags | MSG_DONTWAIT));
        if (!would_block(result) || (flags & MSG_DONTWAIT) != 0) return result;
        if (int const error = between.pause(until)) return -error;
    }
}

// Another thread may have been faster after the event.
int wait_until_ready(int number, direction way, detail::limit const& until) noexcept {
    for (;;) {
        event_count const seen = reactor::instance().look(number, way);
        if (is_ready(number, way) && ::fcntl(number, F_GETFD) >= 0) return 0;
        int const error = reactor::instance().wait(number, way, seen, wait::limit<parking>(until));
        if (error != 0) return -error;
    }
}

} // namespace

ssize_t read(int descriptor, void* buffer, std::size_t size) noexcept {
    iovec const whole{buffer, size};
    return read_parts(descriptor, &whole, 1, k_forever);
}
ssize_t read(int descriptor, void* buffer, std::size_t size, wait_limit const& limit) noexcept {
    iovec const whole{buffer, size};
    return read_parts(descriptor, &whole, 1, limit.get());
}
ssize_t readv(int descriptor, iovec const* parts, int count) noexcept {
    return read_parts(descriptor, parts, count, k_forever);
}
ssize_t readv(int descriptor, iovec const* parts, int count, wait_limit const& limit) noexcept {
    return read_parts(descriptor, parts, count, limit.get());
}

ssize_t write(int descriptor, void const* buffer, std::size_t size) noexcept {
    iovec const whole{const_cast<void*>(buffer), size};
    return write_parts(descriptor, &whole, 1, k_forever);
}
ssize_t write(int descriptor, void const* buffer, std::size_t size,
              wait_limit const& limit) noexcept {
    iovec const whole{const_cast<void*>(buffer), size};
    return write_parts(descriptor, &whole, 1, limit.get());
}
ssize_t writev(int descriptor, iovec const* parts, int count) noexcept {
    return write_parts(descriptor, parts, count, k_forever);
}
ssize_t writev(int descriptor, iovec const* parts, int count, wait_limit const& limit) noexcept {
    return write_parts(descriptor, parts, count, limit.get());
}

ssize_t recv(int socket, void* buffer, std::size_t size, int flags) noexcept {
    return recv(socket, buffer, size, flags, wait_limit::of(k_forever));
}
ssize_t recv(int socket, void* buffer, std::size_t size, int flags,
             wait_limit const& limit) noexcept {
    std::size_t const asked = flags == 0 ? size : k_unknown_size;
    return receive_whole(socket, flags, size, [=, &limit](std::size_t done) {
        return on_socket(socket, direction::in, flags, limit.get(), asked, [=](int with) {
            return ::recv(socket, static_cast<char*>(buffer) + done, size - done, with);
        });
    });
}
ssize_t recvfrom(int socket, void* buffer, std::size_t size, int flags, sockaddr* address,
                 socklen_t* length) noexcept {
    return recvfrom(socket, buffer, size, flags, address, length, wait_limit::of(k_forever));
}
ssize_t recvfrom(int socket, void* buffer, std::size_t size, int flags, sockaddr* address,
                 socklen_t* length, wait_limit const& limit) noexcept {
    ssize_t const got =
        on_socket(socket, direction::in, flags, limit.get(), k_unknown_size, [=](int with) {
            return ::recvfrom(socket, buffer, size, with, address, length);
        });
    if (!wants_rest(socket, flags, got, size)) return got;
    auto const done = static_cast<std::size_t>(got);
    ssize_t const more = recv(socket, static_cast<char*>(buffer) + done, size - done, flags, limit);
    return more > 0 ? got + more : got;
}
ssize_t recvmsg(int socket, msghdr* message, int flags) noexcept {
    return recvmsg(socket, message, flags, wait_limit::of(k_forever));
}
ssize_t recvmsg(int socket, msghdr* message, int flags, wait_limit const& limit) noexcept {
    ssize_t const got = on_socket(socket, direction::in, flags, limit.get(), k_unknown_size,
                                  [=](int with) { return ::recvmsg(socket, message, with); });
    // Where descriptors may come beside the bytes, the next call takes those that do.
    bool const is_plain = got > 0 && message->msg_control == nullptr;
    if (!is_plain || !wants_rest(socket, flags, got, size_of(*message))) return got;
    return receive_rest(socket, *message, flags, got, limit);
}
ssize_t send(int socket, void const* buffer, std::size_t size, int flags) noexcept {
    return send(socket, buffer, size, flags, wait_limit::of(k_forever));
}
ssize_t send(int socket, void const* buffer, std::size_t size, int flags,
             wait_limit const& limit) noexcept {
    return on_socket(socket, direction::out, flags, limit.get(), k_unknown_size,
                     [=](int with) { return ::send(socket, buffer, size, with); });
}
ssize_t sendto(int socket, void const* buffer, std::size_t size, int flags, sockaddr const* address,
               socklen_t length) noexcept {
    return sendto(socket, buffer, size, flags, address, length, wait_limit::of(k_forever));
}
ssize_t sendto(int socket, void const* buffer, std::size_t size, int flags, sockaddr const* address,
               socklen_t length, wait_limit const& limit) noexcept {
    iovec part{const_cast<void*>(buffer), size};
    msghdr message{};
    message.msg_name = const_cast<sockaddr*>(address);
    message.msg_namelen = length;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    return sendmsg(socket, &message, flags, limit);
}
ssize_t sendmsg(int socket, msghdr const* message, int flags) noexcept {
    return sendmsg(socket, message, flags, wait_limit::of(k_forever));
}
ssize_t sendmsg(int socket, msghdr const* message, int flags, wait_limit const& limit) noexcept {
    if (message != nullptr && message->msg_name != nullptr)
        return send_to_name(socket, message, flags, limit.get());
    return on_socket(socket, direction::out, flags, limit.get(), k_unknown_size,
                     [=](int with) { return ::sendmsg(socket, message, with); });
}

int accept(int socket, sockaddr* address, socklen_t* length, int flags) noexcept {
    return accept_one(socket, address, length, flags, k_forever);
}
int accept(int socket, sockaddr* address, socklen_t* length, int flags,
           wait_limit const& limit) noexcept {
    return accept_one(socket, address, length, flags, limit.get());
}
int connect(int socket, sockaddr const* address, socklen_t length) noexcept {
    return connect_to(socket, address, length, k_forever);
}
int connect(int socket, sockaddr const* address, socklen_t length,
            wait_limit const& limit) noexcept {
    return connect_to(socket, address, length, limit.get());
}

int wait_readable(int descriptor) noexcept {
    return wait_until_ready(descriptor, direction::in, k_forever);
}
int wait_readable(int descriptor, wait_limit const& limit) noexcept {
    return wait_until_ready(descriptor, direction::in, limit.get());
}
int wait_writable(int descriptor) noexcept {
    return wait_until_ready(descriptor, direction::out, k_forever);
}
int wait_writable(int descriptor, wait_limit const& limit) noexcept {
    return wait_until_ready(descriptor, direction::out, limit.get());
}

int close(int descriptor) noexcept {
    if (os::private_descriptor::is_one(descriptor)) return -EBADF;
    return reactor::instance().replace(
        descriptor,
        [](void* number) noexcept {
            return static_cast<int>(result_of(::close(*static_cast<int*>(number))));
        },
        &descriptor);
}

int dup2(int from, int to) noexcept {
    if (os::private_descriptor::is_one(from)) return -EBADF;
    std::array<int, 2> numbers{from, to};
    bool const changes_nothing = from == to || ::fcntl(from, F_GETFD) < 0;
    if (changes_nothing) return static_cast<int>(result_of(::dup2(from, to)));
    if (os::private_descriptor::is_one(to)) return -EBUSY;
    return reactor::instance().replace(
        to,
        [](void* n) noexcept {
            auto const* const of = static_cast<int const*>(n);
            return static_cast<int>(result_of(::dup2(of[0], of[1])));
        },
        numbers.data());
}

} // namespace tulle::io

// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/files/descriptors.hpp"

#include "compat/pthread/files/known_descriptors.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "os/private_descriptor.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace tulle::posix {

bool is_ready(int number, direction way) noexcept {
    pollfd asked{number, static_cast<short>(way == direction::in ? POLLIN : POLLOUT), 0};
    return TULLE_LIBC(poll)(&asked, 1, 0) != 0;
}

bool is_shut_down(int number) noexcept {
    pollfd asked{number, POLLRDHUP, 0};
    return TULLE_LIBC(poll)(&asked, 1, 0) > 0 && (asked.revents & POLLRDHUP) != 0;
}

namespace {

// `other_mode`: of a descriptor that is not open for what is to be waited for.
bool never_waits_for(int number, int other_mode) noexcept {
    if (known_descriptors::is_plain_socket(number)) return false;
    auto const before = known_descriptors::look(number);
    int const flags = fcntl(number, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0 || (flags & O_ACCMODE) == other_mode) return true;
    known_descriptors::note_wait(number, before);
    return false;
}

} // namespace

bool never_waits(int number) noexcept { return never_waits_for(number, -1); }
bool never_waits(int number, direction way) noexcept {
    return never_waits_for(number, way == direction::in ? O_WRONLY : O_RDONLY);
}

namespace {

// k_never: the socket has none, or it is no socket.
std::uint64_t deadline_of(int number, direction way) noexcept {
    if (known_descriptors::is_plain_socket(number)) return wait::k_never;
    timeval time{};
    socklen_t size = sizeof time;
    int const option = way == direction::in ? SO_RCVTIMEO : SO_SNDTIMEO;
    if (getsockopt(number, SOL_SOCKET, option, &time, &size) != 0) return wait::k_never;
    if (time.tv_sec == 0 && time.tv_usec == 0) return wait::k_never;
    return deadline_after({time.tv_sec, time.tv_usec * 1000});
}

bool is_of_same_host(int socket) noexcept {
    int family = 0;
    socklen_t size = sizeof family;
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 && family == AF_UNIX;
}

} // namespace

std::uint64_t time_limit::deadline(int number, direction way) noexcept {
    if (!m_is_known) m_deadline = deadline_of(number, way);
    m_is_known = true;
    return m_deadline;
}
void time_limit::note_part(int number) noexcept {
    if (m_is_known && m_deadline != wait::k_never) m_is_known = !is_of_same_host(number);
}

std::uint64_t time_limit::next_try(int number) noexcept {
    if (m_pause_ns == 0) m_pause_ns = is_of_same_host(number) ? k_first_pause_ns : wait::k_never;
    if (m_pause_ns == wait::k_never) return wait::k_never;
    std::uint64_t const next = os::monotonic_ns() + m_pause_ns;
    m_pause_ns = std::min(2 * m_pause_ns, k_longest_pause_ns);
    return next;
}

io::event_count look(int number, direction way) noexcept {
    return io::reactor::instance().look(number, way);
}

int wait_for(thread& t, int number, direction way, io::event_count seen, time_limit& until,
             bool may_be_cancelled) {
    std::uint64_t deadline = wait::k_never, next_try = wait::k_never;
    int error = 0;
    {
        kept_errno const kept;
        deadline = until.deadline(number, way);
        if (way == direction::out) next_try = until.next_try(number);
        limit const ends = interruptible(&t, std::min(deadline, next_try));
        error = io::reactor::instance().wait(number, way, seen, ends);
    }
    if (error == ETIMEDOUT) return next_try < deadline ? 0 : EAGAIN;
    if (error != ECANCELED) return error;
    // Calls on sockets that have a limit of time do not begin anew (signal(7)).
    interruption const by = may_be_cancelled ? attend(t) : run_handlers(t);
    bool const ends =
        by == interruption::ends || (by == interruption::restarts && deadline != wait::k_never);
    return ends ? EINTR : 0;
}

namespace {

// The terminal of this session belongs to other processes for now: a read stops this one, or fails
// (EIO). The other end of a terminal is none of this session.
bool is_in_background(int terminal) noexcept {
    pid_t const in_front = tcgetpgrp(terminal);
    if (in_front < 0 || in_front == getpgrp()) return false;
    pid_t const session = tcgetsid(terminal);
    return session >= 0 && session == getsid(0);
}

// A terminal that gives what there is, after a while at most; or nothing, at once.
bool needs_no_input(int number) noexcept {
    kept_errno const kept;
    termios how{};
    if (io::reactor::instance().was_socket(number) || tcgetattr(number, &how) != 0) return false;
    return ((how.c_lflag & ICANON) == 0 && how.c_cc[VMIN] == 0) || is_in_background(number);
}

} // namespace

int wait_until_ready(thread& t, int number, direction way, time_limit& until) {
    test_cancel(&t);
    for (;;) {
        io::event_count const seen = look(number, way);
        if (is_ready(number, way) || never_waits(number, way)) return 0;
        if (way == direction::in && needs_no_input(number)) return 0;
        int const error = wait_for(t, number, way, seen, until);
        if (is_final(error)) return error;
        if (error != 0) return 0;
    }
}

namespace {

// --- output: a call that waits transfers all -----------------------------------------------------

// A connection that has been made without waiting for it is begun by the first output
// (TCP_FASTOPEN_CONNECT): EINPROGRESS.
bool is_to_wait(int error) noexcept { return error == EAGAIN || error == EINPROGRESS; }

// `attempt(parts, count)` sends without waiting. An error after a part has been sent is told by the
// next call.
template <class Attempt, class Call>
ssize_t send_parts(thread& t, int number, remaining_parts left, Attempt attempt, Call call) {
    time_limit until;
    ssize_t sent = 0;
    for (;;) {
        io::event_count const seen = look(number, direction::out);
        ssize_t const result = attempt(left.parts(), left.count());
        if (result >= 0) {
            sent += result;
            if (!left.take(static_cast<std::size_t>(result)) || result == 0) return sent;
        } else if (!is_to_wait(errno)) {
            return sent != 0 ? sent : result;
        }
        if (never_waits(number)) return sent != 0 ? sent : result;
        if (result > 0) until.note_part(number);
        if (result >= 0) continue;
        int const error = wait_for(t, number, direction::out, seen, until);
        if (error == 0) continue;
        if (sent != 0) return sent;
        if (is_final(error)) return fail(error);
        return call();
    }
}

template <class Attempt, class Call>
ssize_t send_all(int number, remaining_parts const& left, Attempt attempt, Call call) {
    return keeping_errno([&] { return send_parts(*self(), number, left, attempt, call); });
}

} // namespace

void handle_failed_output() {
    thread* const t = self();
    if (t == nullptr) return;
    kept_errno const kept;
    run_handlers_at_once(*t);
}

std::size_t size_of(iovec const* parts, std::size_t count) noexcept {
    std::size_t size = 0;
    std::for_each_n(parts, count, [&](iovec const& part) { size += part.iov_len; });
    return size;
}

namespace {

// The connection is gone.
bool is_hung_up(int socket) noexcept {
    pollfd asked{socket, 0, 0};
    return TULLE_LIBC(poll)(&asked, 1, 0) > 0 && (asked.revents & POLLHUP) != 0;
}

int type_of(int socket) noexcept {
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? type : 0;
}

// Who waits is told of the error of a connection that is gone, where a try is told that the socket
// is shut down, and is sent a signal. 0: there is none, or of it there is a signal, too.
int take_error(int socket) noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return 0;
    return error == EPIPE ? 0 : error;
}

} // namespace

// To send nothing to a stream transfers nothing, but says whether more may be sent. Of packets it
// would be one that is empty: a byte that is nowhere says so, too, and is not sent either (EFAULT).
bool takes_no_more(int socket) noexcept {
    constexpr int k_only_asks = MSG_DONTWAIT | MSG_NOSIGNAL;
    kept_errno const kept;
    int const type = is_of_same_host(socket) ? type_of(socket) : 0;
    if (type != SOCK_STREAM && type != SOCK_SEQPACKET) return false;
    auto* const nowhere = reinterpret_cast<void*>(std::uintptr_t{1});
    bool const is_stream = type == SOCK_STREAM;
    ssize_t const sent = is_stream ? TULLE_LIBC(send)(socket, nullptr, 0, k_only_asks)
                                   : TULLE_LIBC(send)(socket, nowhere, 1, k_only_asks);
    return sent < 0 && errno == EPIPE;
}

// Nobody who waits at a socket of the same host is sent a signal.
int error_under_wait(int socket) noexcept {
    kept_errno const kept;
    int const error = is_hung_up(socket) ? take_error(socket) : 0;
    return error == 0 && takes_no_more(socket) ? EPIPE : error;
}

namespace {

// Sends parts of a message without waiting. The socket has to keep an error for the next call of
// the program, so that there is no try after a part which would take it, and no signal.
class sending_parts {
public:
    sending_parts(int socket, msghdr const& message, int flags, bool is_begun) noexcept
        : m_socket(socket), m_flags(flags | MSG_DONTWAIT), m_rest(message) {
        if (is_begun) note_part();
    }
    ssize_t operator()(iovec* parts, std::size_t count) noexcept {
        if (m_has_waited && is_hung_up(m_socket)) {
            if (m_is_begun) return fail(EPIPE);
            if (int const error = take_error(m_socket)) return fail(error);
        }
        // Nobody who waits at a socket of the same host is sent a signal.
        bool const is_told = m_has_waited && !m_is_begun && is_of_same_host(m_socket);
        m_rest.msg_iov = parts;
        m_rest.msg_iovlen = count;
        int const flags = is_told ? m_flags | MSG_NOSIGNAL : m_flags;
        ssize_t const result = TULLE_LIBC(sendmsg)(m_socket, &m_rest, flags);
        m_has_waited = result < 0;
        if (result >= 0) note_part();
        return result;
    }

private:
    void note_part() noexcept {
        m_is_begun = true;
        m_flags |= MSG_NOSIGNAL;
        m_rest.msg_controllen = 0; // what goes with a message goes with its first part
    }

    int m_socket, m_flags;
    msghdr m_rest;
    bool m_is_begun = false, m_has_waited = false;
};

} // namespace

ssize_t send_message(int socket, msghdr const* message, int flags, std::size_t sent) {
    known_descriptors::note_sent(*message);
    // What has been sent is told, and neither sent again nor lost by a cancellation.
    auto const call = [=]() -> ssize_t {
        return sent != 0 ? fail(EAGAIN) : TULLE_LIBC(sendmsg)(socket, message, flags);
    };
    if (self() == nullptr || message->msg_iovlen > remaining_parts::k_most) return call();
    remaining_parts left(message->msg_iov, message->msg_iovlen);
    if (sent != 0 && !left.take(sent)) return 0;
    if (sent == 0) test_cancel(self());
    return send_all(socket, left, sending_parts(socket, *message, flags, sent != 0), call);
}

namespace {

enum class kind_of_file { never_waits, socket, stream, of_messages };

// Files that are never waited for, such as regular ones, take all in one call. What goes to a
// device may be a message, which must not be cut.
kind_of_file kind_of(int number) noexcept {
    struct stat about {};
    if (fstat(number, &about) != 0 || S_ISREG(about.st_mode) || S_ISBLK(about.st_mode))
        return kind_of_file::never_waits;
    if (S_ISSOCK(about.st_mode)) return kind_of_file::socket;
    kept_errno const kept;
    bool const is_stream = S_ISFIFO(about.st_mode) || isatty(number) != 0;
    return is_stream ? kind_of_file::stream : kind_of_file::of_messages;
}

// Where the system cannot be asked to try, so much fits into a stream that is_ready promises.
ssize_t try_to_write(int number, kind_of_file kind, iovec* parts, std::size_t count) noexcept {
    ssize_t const tried =
        TULLE_LIBC(pwritev2)(number, parts, static_cast<int>(count), -1, RWF_NOWAIT);
    if (tried >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return tried;
    constexpr std::size_t k_least_room = 4096;                                // PIPE_BUF
    if ((fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY) return fail(EBADF); // it never is ready
    if (!is_ready(number, direction::out)) return fail(EAGAIN);
    if (kind == kind_of_file::of_messages || size_of(parts, count) <= k_least_room)
        return TULLE_LIBC(writev)(number, parts, static_cast<int>(count));
    return TULLE_LIBC(write)(number, parts->iov_base, std::min(parts->iov_len, k_least_room));
}

ssize_t write_parts(int number, iovec const* parts, std::size_t count) {
    auto const call = [=] { return TULLE_LIBC(writev)(number, parts, static_cast<int>(count)); };
    kind_of_file const kind = self() != nullptr && !known_descriptors::is_always_ready(number)
                                  ? kind_of(number)
                                  : kind_of_file::never_waits;
    if (kind == kind_of_file::never_waits) return call();
    if (kind == kind_of_file::socket) {
        io::reactor::instance().note_socket(number, true); // the next call knows
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(parts);
        message.msg_iovlen = count;
        return send_message(number, &message, 0);
    }
    test_cancel(self());
    return send_all(
        number, remaining_parts(parts, count),
        [=](iovec* left, std::size_t n) { return try_to_write(number, kind, left, n); }, call);
}

// What the system does not take at once goes by send_message, as any message of several parts.
ssize_t send_to(int socket, void const* data, std::size_t size, int flags, sockaddr const* to,
                socklen_t length) {
    test_cancel(self());
    int const before = errno;
    ssize_t const sent = TULLE_LIBC(sendto)(socket, data, size, flags | MSG_DONTWAIT, to, length);
    bool const is_over = sent < 0 ? !is_to_wait(errno) : static_cast<std::size_t>(sent) == size;
    if (is_over || never_waits(socket)) return sent;
    errno = before;
    iovec part{const_cast<void*>(data), size};
    msghdr message{};
    message.msg_name = const_cast<sockaddr*>(to);
    message.msg_namelen = to == nullptr ? 0 : length;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ssize_t const more =
        send_message(socket, &message, flags, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    if (sent <= 0) return more;
    return more < 0 ? sent : sent + more;
}

// --- input ---------------------------------------------------------------------------------------

// Errors and urgent data are not waited for.
bool is_plain(int flags) noexcept { return (flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)) == 0; }

// What the kernel has to gather, as a try would leave it where it is: all of a message that is only
// peeked at, or as much as SO_RCVLOWAT has set.
bool is_for_kernel(int flags, std::size_t low_mark) noexcept {
    return (flags & MSG_PEEK) != 0 && ((flags & MSG_WAITALL) != 0 || low_mark > 1);
}
// The limit of time is that of the whole call: where there is one, the kernel waits for the first
// byte, too.
template <class Call> ssize_t receive_by_kernel(int socket, Call call) {
    int const before = errno;
    bool const has_limit = deadline_of(socket, direction::in) != wait::k_never;
    errno = before;
    if (has_limit) return test_cancel(self()), call(0);
    return when_ready(socket, direction::in, [=] { return call(0); });
}

// For how many bytes a call waits.
std::size_t least_of(int socket, int flags, std::size_t size, std::size_t low_mark) noexcept {
    bool const is_whole = (flags & MSG_WAITALL) != 0;
    if (!is_whole && low_mark <= 1) return 1;
    return type_of(socket) != SOCK_STREAM ? 1 : is_whole ? size : std::min(size, low_mark);
}

// Of a connection with a low mark poll(2) tells when there is so much, and not of a rest behind
// what a try would take before. At the limit of time it is tried all the same.
template <class Attempt>
ssize_t receive_from_mark(thread& t, int socket, time_limit& until, Attempt attempt) {
    for (;;) {
        int const error = wait_until_ready(t, socket, direction::in, until);
        if (error != 0 && error != EAGAIN) return fail(error);
        ssize_t const result = attempt();
        bool const goes_on = result < 0 && errno == EAGAIN && error == 0 && !never_waits(socket);
        if (!goes_on) return result;
    }
}

// The first part of what is to be received.
template <class Call>
ssize_t receive_first(int socket, std::size_t size, bool has_mark, time_limit& until, Call call) {
    thread* const t = self();
    auto const attempt = [&] { return call(MSG_DONTWAIT); };
    if (t != nullptr && has_mark)
        return keeping_errno([&] { return receive_from_mark(*t, socket, until, attempt); });
    return until_done(socket, direction::in, size, until, attempt, [&] { return call(0); });
}

// What comes next is urgent, or an end or an error of which the next call is to tell.
bool is_at_stop(int socket) noexcept {
    pollfd asked{socket, 0, 0};
    int mark = 0, left = 0;
    if (ioctl(socket, SIOCATMARK, &mark) == 0 && mark != 0) return true;
    bool const is_over = TULLE_LIBC(poll)(&asked, 1, 0) > 0 && (asked.revents & POLLHUP) != 0;
    return is_over && ioctl(socket, FIONREAD, &left) == 0 && left == 0;
}

// Behind what a first call has got, until it is `least` in all.
ssize_t receive_rest(int socket, remaining_parts left, int flags, ssize_t got, std::size_t least,
                     time_limit& until) {
    kept_errno const kept;
    for (bool wants_more = left.take(static_cast<std::size_t>(got));
         wants_more && static_cast<std::size_t>(got) < least && !is_at_stop(socket);) {
        io::event_count const seen = look(socket, direction::in);
        msghdr rest{};
        rest.msg_iov = left.parts();
        rest.msg_iovlen = left.count();
        ssize_t const more = TULLE_LIBC(recvmsg)(socket, &rest, flags | MSG_DONTWAIT);
        if (more == 0 || (more < 0 && (errno != EAGAIN || never_waits(socket)))) break;
        if (more < 0) {
            // What has been got is told: a cancellation is seen by the next call.
            bool const is_over =
                self()->is_to_end() ||
                wait_for(*self(), socket, direction::in, seen, until, false) != 0 ||
                self()->is_to_end();
            if (is_over) break;
            continue;
        }
        got += more;
        wants_more = left.take(static_cast<std::size_t>(more));
    }
    return got;
}

// `call(flags)`, with flags beside the program's own, puts what it gets into these parts, which are
// so large unless that is not known.
template <class Call>
ssize_t receive_parts(int socket, iovec const* parts, std::size_t count, std::size_t size,
                      int flags, Call call) {
    if (!is_plain(flags)) return test_cancel(self()), call(0);
    std::size_t const mark = known_descriptors::low_mark(socket);
    if (is_for_kernel(flags, mark)) return receive_by_kernel(socket, call);
    std::size_t const least = least_of(socket, flags, size, mark);
    bool const has_mark = mark > 1 && least > 1 && !is_of_same_host(socket);
    time_limit until;
    ssize_t const got =
        receive_first(socket, flags == 0 ? size : k_unknown_size, has_mark, until, call);
    bool const is_enough = got <= 0 || static_cast<std::size_t>(got) >= least;
    if (is_enough || self() == nullptr) return got;
    return receive_rest(socket, remaining_parts(parts, count), flags, got, least, until);
}

ssize_t receive(int socket, void* data, std::size_t size, int flags, sockaddr* from,
                socklen_t* length) {
    iovec const whole{data, size};
    return receive_parts(socket, &whole, 1, size, flags, [=](int with) {
        return TULLE_LIBC(recvfrom)(socket, data, size, flags | with, from, length);
    });
}

ssize_t receive_message(int socket, msghdr* message, int flags) {
    auto const call = [=](int with) {
        ssize_t const result = TULLE_LIBC(recvmsg)(socket, message, flags | with);
        if (result >= 0) known_descriptors::note_received(*message);
        return result;
    };
    if (self() == nullptr || !is_plain(flags) || !may_be_read(message))
        return test_cancel(self()), call(0);
    // What comes beside the bytes ends a message.
    bool const has_more = message->msg_control != nullptr && message->msg_controllen != 0;
    bool const is_long = message->msg_iovlen > remaining_parts::k_most;
    bool const is_gathered = (flags & MSG_WAITALL) != 0 || known_descriptors::low_mark(socket) > 1;
    bool const is_known = may_be_read(message->msg_iov, message->msg_iovlen);
    if (is_gathered && (has_more || is_long || !is_known)) return receive_by_kernel(socket, call);
    std::size_t const size =
        is_gathered ? size_of(message->msg_iov, message->msg_iovlen) : k_unknown_size;
    return receive_parts(socket, message->msg_iov, message->msg_iovlen, size, flags, call);
}

// Of a socket the system can try, so that nobody asks first whether it is ready. Not for nothing,
// which is something else to datagrams. `otherwise`: it is none, or has not been known as one.
template <class OnSocket, class Otherwise>
ssize_t as_of_socket(int number, std::size_t size, OnSocket on_socket, Otherwise otherwise) {
    if (size == 0 || self() == nullptr || !io::reactor::instance().was_socket(number))
        return otherwise();
    int const before = errno;
    ssize_t const result = on_socket();
    if (result >= 0 || errno != ENOTSOCK) return result;
    io::reactor::instance().note_socket(number, false);
    known_descriptors::forget(number);
    errno = before;
    return otherwise();
}

// Before the first writer has come poll(2) does not tell that a read finds the end of the input at
// once, where the pipe was opened without waiting. The same pipe, opened again, is tried; EAGAIN: a
// read would wait, or that cannot be done.
ssize_t try_named_pipe(int number, iovec const* parts, int count) noexcept {
    if (is_ready(number, direction::in) || never_waits(number)) return fail(EAGAIN);
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", number);
    os::private_descriptor const again(
        [&] { return TULLE_LIBC(open)(path.data(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); });
    return again.is_open() ? TULLE_LIBC(readv)(again.number(), parts, count) : fail(EAGAIN);
}

// Files of events tell no fewer bytes than those of a number, and say so at once, whether there is
// something or not. They have no type.
bool is_too_short(int number, std::size_t size) noexcept {
    constexpr std::size_t k_least = 8;
    if (size >= k_least) return false;
    kept_errno const kept;
    struct stat about {};
    if (fstat(number, &about) != 0 || (about.st_mode & S_IFMT) != 0) return false;
    std::array<char, 32> path{}, name{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", number);
    if (readlink(path.data(), name.data(), name.size() - 1) < 0) return false;
    std::string_view const found = name.data();
    return found == "anon_inode:[eventfd]" || found == "anon_inode:[timerfd]" ||
           found == "anon_inode:[signalfd]";
}

template <class Call> ssize_t read_file(int number, iovec const* parts, int count, Call call) {
    if (self() != nullptr && known_descriptors::is_always_ready(number))
        return test_cancel(self()), call();
    if (self() != nullptr && known_descriptors::is_named_pipe(number)) {
        test_cancel(self());
        int const before = errno;
        if ((fcntl(number, F_GETFL) & O_ACCMODE) == O_WRONLY) return call(); // EBADF
        ssize_t const tried = try_named_pipe(number, parts, count);
        if (tried >= 0 || errno != EAGAIN) return tried;
        errno = before;
    }
    if (self() != nullptr && is_too_short(number, size_of(parts, static_cast<std::size_t>(count))))
        return test_cancel(self()), call();
    return when_ready(number, direction::in, call);
}

// To accept at another one fails at once. False: it is none, or of a family that does not tell,
// where the kernel waits.
bool is_listening(int socket) noexcept {
    kept_errno const kept;
    int is_one = 0;
    socklen_t size = sizeof is_one;
    return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &is_one, &size) == 0 && is_one != 0;
}

// `call` makes a socket, of whose number some may wait for a file that the C library has closed by
// itself.
template <class Call> int accept_by(int socket, int flags, Call call) {
    auto const make = [=] {
        known_descriptors::making const all(flags, socket);
        int const made = call();
        all.made(made);
        return made;
    };
    if (self() != nullptr && !is_listening(socket)) return test_cancel(self()), make();
    int const number = when_ready(socket, direction::in, make);
    if (number >= 0 && self() != nullptr) io::reactor::instance().expect_new(number);
    return number;
}

} // namespace

ssize_t read_in_parts(int number, iovec const* parts, int count, int flags) {
    auto const call = [=] {
        return flags == 0 ? TULLE_LIBC(readv)(number, parts, count)
                          : TULLE_LIBC(preadv2)(number, parts, count, -1, flags);
    };
    auto const n = static_cast<std::size_t>(count);
    bool const is_long = n > remaining_parts::k_most;
    if (flags != 0 || is_long) return when_ready(number, direction::in, call);
    return as_of_socket(
        number, size_of(parts, n),
        [=] {
            msghdr message{};
            message.msg_iov = const_cast<iovec*>(parts);
            message.msg_iovlen = n;
            return receive_message(number, &message, 0);
        },
        [=] { return read_file(number, parts, count, call); });
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE ssize_t read(int number, void* data, size_t size) {
    // Which waits for nothing.
    if (size == 0) return test_cancel(self()), TULLE_LIBC(read)(number, data, size);
    return as_of_socket(
        number, size, [=] { return receive(number, data, size, 0, nullptr, nullptr); },
        [=] {
            iovec const whole{data, size};
            return read_file(number, &whole, 1,
                             [=] { return TULLE_LIBC(read)(number, data, size); });
        });
}

TULLE_INTERPOSE ssize_t readv(int number, iovec const* parts, int count) {
    bool const is_for_kernel = self() == nullptr || !may_be_read(parts, count) ||
                               size_of(parts, static_cast<std::size_t>(count)) == 0;
    if (is_for_kernel) return test_cancel(self()), TULLE_LIBC(readv)(number, parts, count);
    return read_in_parts(number, parts, count, 0);
}

TULLE_INTERPOSE ssize_t write(int number, void const* data, size_t size) {
    test_cancel(self());
    if (self() == nullptr || size == 0) return TULLE_LIBC(write)(number, data, size);
    return after_output(as_of_socket(
        number, size, [=] { return send_to(number, data, size, 0, nullptr, 0); },
        [=] {
            iovec const part{const_cast<void*>(data), size};
            return write_parts(number, &part, 1);
        }));
}

TULLE_INTERPOSE ssize_t writev(int number, iovec const* parts, int count) {
    test_cancel(self());
    bool const is_for_kernel = self() == nullptr ||
                               static_cast<std::size_t>(count) > remaining_parts::k_most ||
                               !may_be_read(parts, count);
    return after_output(is_for_kernel
                            ? TULLE_LIBC(writev)(number, parts, count)
                            : write_parts(number, parts, static_cast<std::size_t>(count)));
}

TULLE_INTERPOSE ssize_t recv(int socket, void* data, size_t size, int flags) {
    return receive(socket, data, size, flags, nullptr, nullptr);
}

TULLE_INTERPOSE ssize_t recvfrom(int socket, void* data, size_t size, int flags, sockaddr* from,
                                 socklen_t* length) {
    return receive(socket, data, size, flags, from, length);
}

TULLE_INTERPOSE ssize_t recvmsg(int socket, msghdr* message, int flags) {
    return receive_message(socket, message, flags);
}

TULLE_INTERPOSE ssize_t send(int socket, void const* data, size_t size, int flags) {
    bool const is_for_kernel = self() == nullptr || (flags & k_sent_by_kernel) != 0;
    if (is_for_kernel) test_cancel(self());
    return after_output(is_for_kernel ? TULLE_LIBC(send)(socket, data, size, flags)
                                      : send_to(socket, data, size, flags, nullptr, 0));
}

TULLE_INTERPOSE ssize_t sendto(int socket, void const* data, size_t size, int flags,
                               sockaddr const* to, socklen_t length) {
    bool const is_for_kernel = self() == nullptr || (flags & k_sent_by_kernel) != 0;
    if (is_for_kernel) test_cancel(self());
    return after_output(is_for_kernel ? TULLE_LIBC(sendto)(socket, data, size, flags, to, length)
                                      : send_to(socket, data, size, flags, to, length));
}

TULLE_INTERPOSE ssize_t sendmsg(int socket, msghdr const* message, int flags) {
    test_cancel(self());
    if (!may_be_read(message)) return TULLE_LIBC(sendmsg)(socket, message, flags);
    bool const is_for_kernel =
        self() == nullptr || (flags & k_sent_by_kernel) != 0 ||
        (message->msg_iovlen != 0 && !may_be_read(message->msg_iov, message->msg_iovlen));
    if (!is_for_kernel) return after_output(send_message(socket, message, flags));
    known_descriptors::note_sent(*message);
    return after_output(TULLE_LIBC(sendmsg)(socket, message, flags));
}

TULLE_INTERPOSE int accept(int socket, sockaddr* address, socklen_t* length) {
    return accept_by(socket, 0, [=] { return TULLE_LIBC(accept)(socket, address, length); });
}

TULLE_INTERPOSE int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
    return accept_by(socket, flags,
                     [=] { return TULLE_LIBC(accept4)(socket, address, length, flags); });
}

TULLE_INTERPOSE int connect(int socket, sockaddr const* address, socklen_t length) {
    thread* const t = self();
    test_cancel(t);
    if (t == nullptr || never_waits(socket)) return TULLE_LIBC(connect)(socket, address, length);
    std::uint64_t const deadline = deadline_of(socket, direction::out);
    tulle::wait_limit const until =
        tulle::wait_limit::of({deadline, interruptible(t, deadline).token});
    int result = tulle::io::connect(socket, address, length, until);
    while (result == -ECANCELED) {
        interruption const by = attend(*t);
        bool const has_limit = deadline != tulle::wait::k_never;
        if (by == interruption::ends || (by == interruption::restarts && has_limit))
            return fail(EINTR);
        result = tulle::io::connect(socket, address, length, until);
        if (result == -EISCONN) result = 0;
    }
    if (result == -ETIMEDOUT && tulle::os::monotonic_ns() >= deadline)
        result = address->sa_family == AF_UNIX ? -EAGAIN : -EINPROGRESS;
    return result == 0 ? 0 : fail(-result);
}

// Programs that were compiled with _FORTIFY_SOURCE call these.
extern "C" __attribute__((noreturn)) void __chk_fail();

TULLE_INTERPOSE ssize_t __read_chk(int number, void* data, size_t size, size_t room) {
    if (size > room) __chk_fail();
    return read(number, data, size);
}

TULLE_INTERPOSE ssize_t __recv_chk(int socket, void* data, size_t size, size_t room, int flags) {
    if (size > room) __chk_fail();
    return receive(socket, data, size, flags, nullptr, nullptr);
}

TULLE_INTERPOSE ssize_t __recvfrom_chk(int socket, void* data, size_t size, size_t room, int flags,
                                       sockaddr* from, socklen_t* length) {
    if (size > room) __chk_fail();
    return receive(socket, data, size, flags, from, length);
}

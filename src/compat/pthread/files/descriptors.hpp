// SPDX-License-Identifier: Apache-2.0
// Calls on file descriptors by threads of pthread_create: a call that would wait in the kernel
// waits in the reactor first (io/reactor.hpp). OS threads wait in the kernel as ever.
#pragma once

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/readable.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "io/reactor.hpp"
#include "os/clock.hpp"
#include "wait/limit_wait.hpp"

#include <algorithm>
#include <array>

namespace tulle::posix {

using io::direction;

// Waits for something that nobody tells of: longer and longer.
class growing_pause {
public:
    // ECANCELED: the thread is to look why. 0: some time has passed, or all until the deadline.
    int wait(thread& t, std::uint64_t deadline = wait::k_never) noexcept {
        kept_errno const kept;
        std::uint64_t const next = std::min(os::monotonic_ns() + m_next_ns, deadline);
        m_next_ns = std::min(2 * m_next_ns, k_longest_ns);
        auto const how = wait::wait_for_limit<parking>({wait::wait_kind::sleep, nullptr},
                                                       interruptible(&t, next));
        return how == wait::outcome::cancelled ? ECANCELED : 0;
    }

private:
    static constexpr std::uint64_t k_first_ns = 20'000, k_longest_ns = 5'000'000;

    std::uint64_t m_next_ns = k_first_ns;
};

// A call that is made again and again, as nobody tells when it would not wait.
struct repetition {
    int not_yet;                            // its errno then
    bool may_be_cancelled = true;           // it is a cancellation point
    bool restarts = true;                   // it goes on after a handler with SA_RESTART
    bool ends_for_handlers = true;          // with EINTR
    std::uint64_t deadline = wait::k_never; // then it is left at the last failure
};

template <class Attempt>
auto repeat_until_over(thread& t, repetition const& how, Attempt attempt) -> decltype(attempt()) {
    if (how.may_be_cancelled) test_cancel(&t);
    for (growing_pause between;;) {
        auto const result = attempt();
        bool const is_over = result >= 0 || errno != how.not_yet;
        if (is_over || os::monotonic_ns() >= how.deadline) return result;
        if (between.wait(t, how.deadline) != ECANCELED) continue;
        interruption const by = how.may_be_cancelled ? attend(t) : run_handlers(t);
        bool const is_ended =
            by == interruption::ends || (by == interruption::restarts && !how.restarts);
        if (is_ended && how.ends_for_handlers) return fail(EINTR);
    }
}
template <class Attempt> auto repeat(thread& t, repetition const& how, Attempt attempt) {
    return keeping_errno([&] { return repeat_until_over(t, how, attempt); });
}

// When a call ends that has a limit of time (SO_RCVTIMEO, SO_SNDTIMEO), however often it waits. The
// system is asked at its first wait.
class time_limit {
public:
    [[nodiscard]] std::uint64_t deadline(int number, direction way) noexcept;
    // Some has been sent: a socket of the same host (unix(7)) waits so long for each part.
    void note_part(int number) noexcept;
    // When whoever waits for room is to try again, though nobody has told of any: poll(2) tells
    // nothing of a socket of the same host of which one side says that no more is to be sent.
    [[nodiscard]] std::uint64_t next_try(int number) noexcept;

private:
    static constexpr std::uint64_t k_first_pause_ns = 5'000'000, k_longest_pause_ns = 200'000'000;

    bool m_is_known = false;
    std::uint64_t m_deadline = wait::k_never;
    std::uint64_t m_pause_ns = 0; // 0: the system has not been asked; k_never: there is no need
};

// 0: the descriptor may be ready: try again. Else an errno: the caller is to make the call that may
// block if it is EPERM, EAGAIN stands for a time that SO_RCVTIMEO or SO_SNDTIMEO has set, and EINTR
// for a handler that ends the call. A cancellation does not return.
// `seen`: what look said before the try.
[[nodiscard]] int wait_for(thread& t, int number, direction way, io::event_count seen,
                           time_limit& until, bool may_be_cancelled = true);
[[nodiscard]] io::event_count look(int number, direction way) noexcept;
[[nodiscard]] bool is_ready(int number, direction way) noexcept;
// Nothing more comes to this socket. A call that waits says so (0) of a datagram socket, too; one
// that does not wait says EAGAIN of that all the same.
[[nodiscard]] bool is_shut_down(int number) noexcept;
// A connection of the same host that has been shut down for output, which poll(2) does not tell.
[[nodiscard]] bool takes_no_more(int socket) noexcept;
// How a wait for room in this socket has ended, where the next try would not say that: the errno
// of a connection that is gone or shut down. 0: it has not, or the next try says so.
[[nodiscard]] int error_under_wait(int socket) noexcept;
// O_NONBLOCK is set, or it is no descriptor.
[[nodiscard]] bool never_waits(int number) noexcept;
// Or it is not open for that, which the call says at once.
[[nodiscard]] bool never_waits(int number, direction way) noexcept;
// What wait_for has returned ends the call, with this errno.
[[nodiscard]] inline bool is_final(int error) noexcept {
    return error == EAGAIN || error == EBADF || error == EINTR;
}

// 0: the call may be made, and if somebody else was faster it waits in the kernel. Else the errno
// that ends it.
[[nodiscard]] int wait_until_ready(thread& t, int number, direction way, time_limit& until);

// Waits until the descriptor is ready, unless the program does not want that, and calls.
template <class Call> auto when_ready(int number, direction way, Call call) {
    thread* const t = self();
    if (t == nullptr) return call();
    return keeping_errno([&] {
        time_limit until;
        int const error = wait_until_ready(*t, number, way, until);
        return error == 0 ? call() : static_cast<decltype(call())>(fail(error));
    });
}

// How much a read of one buffer asks for; nothing is known of other calls.
inline constexpr std::size_t k_unknown_size = 0;

template <class Attempt, class Call>
ssize_t try_until_done(thread& t, int number, direction way, std::size_t size, time_limit& until,
                       Attempt attempt, Call call) {
    auto& reactor = io::reactor::instance();
    test_cancel(&t);
    for (bool has_waited = false;; has_waited = true) {
        io::event_count const seen = look(number, way);
        bool const is_drained = size != k_unknown_size && reactor.is_drained(number, seen);
        bool const does_not_wait = is_drained && never_waits(number);
        if (!is_drained || does_not_wait) {
            ssize_t const result = attempt();
            if (result > 0 && static_cast<std::size_t>(result) < size)
                reactor.note_short_read(number, seen);
            if (result >= 0 || errno != EAGAIN || does_not_wait || never_waits(number))
                return result;
        }
        if (has_waited && way == direction::in && is_shut_down(number)) return call();
        int const error = wait_for(t, number, way, seen, until);
        // There may be some of which no event has told, such as what lies behind urgent data.
        if (error == EAGAIN && is_drained) return attempt();
        if (is_final(error)) return fail(error);
        if (error != 0) return call();
    }
}
// `attempt` fails with EAGAIN instead of waiting, `call` waits.
template <class Attempt, class Call>
ssize_t until_done(int number, direction way, std::size_t size, time_limit& until, Attempt attempt,
                   Call call) {
    thread* const t = self();
    if (t == nullptr) return call();
    return keeping_errno(
        [&] { return try_until_done(*t, number, way, size, until, attempt, call); });
}
template <class Attempt, class Call>
ssize_t until_done(int number, direction way, Attempt attempt, Call call) {
    time_limit until;
    return until_done(number, way, k_unknown_size, until, attempt, call);
}

// Parts of a message, or of what goes to a file, that have not been transferred.
class remaining_parts {
public:
    static constexpr std::size_t k_most = 64; // more of them are left to the kernel

    remaining_parts(iovec const* parts, std::size_t count) noexcept : m_count(count) {
        std::copy_n(parts, count, m_parts.begin());
    }
    [[nodiscard]] iovec* parts() noexcept { return m_parts.data() + m_first; }
    [[nodiscard]] std::size_t count() const noexcept { return m_count - m_first; }
    // Whether something is left.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        while (m_first != m_count && bytes >= m_parts[m_first].iov_len)
            bytes -= m_parts[m_first++].iov_len;
        if (m_first == m_count) return false;
        m_parts[m_first].iov_base = static_cast<char*>(m_parts[m_first].iov_base) + bytes;
        m_parts[m_first].iov_len -= bytes;
        return true;
    }

private:
    std::array<iovec, k_most> m_parts;
    std::size_t m_first = 0;
    std::size_t m_count;
};

// Parts, or messages, that the system takes (UIO_MAXIOV).
inline constexpr unsigned k_most_of_call = 1024;

[[nodiscard]] std::size_t size_of(iovec const* parts, std::size_t count) noexcept;
// False: there is nothing, or there are more of them than the system takes. It is left to the
// kernel to say so.
template <class Count> [[nodiscard]] bool may_be_read(iovec const* parts, Count count) noexcept {
    auto const n = static_cast<std::size_t>(count);
    return count > 0 && n <= k_most_of_call && is_readable(parts, n * sizeof *parts);
}
[[nodiscard]] inline bool may_be_read(msghdr const* message) noexcept {
    return is_readable(message, sizeof *message);
}

// Reads parts of what is waited for, by readv, or by preadv2 with these flags and no offset.
ssize_t read_in_parts(int number, iovec const* parts, int count, int flags);

// Of a call that writes: the signal that the caller has got from the kernel by then, SIGPIPE or
// SIGXFSZ, is handled before the call returns.
void handle_failed_output();
template <class Result> Result after_output(Result result) {
    if (TULLE_UNLIKELY(result < 0 && (errno == EPIPE || errno == EFBIG))) handle_failed_output();
    return result;
}

// Output with these is the kernel's. Of MSG_ZEROCOPY each call is told of when its memory is free,
// so that one must not become several; that of MSG_FASTOPEN makes the connection, too.
inline constexpr int k_sent_by_kernel = MSG_DONTWAIT | MSG_ZEROCOPY | MSG_FASTOPEN;

// What has not been sent of a message of which so much has been.
ssize_t send_message(int socket, msghdr const* message, int flags, std::size_t sent = 0);

} // namespace tulle::posix

// SPDX-License-Identifier: Apache-2.0
// poll, select and epoll_wait by threads of pthread_create, and those of their kin that take a mask
// of signals: they ask without waiting, and wait in the reactor.
#include "compat/pthread/files/descriptors.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "io/awaited_descriptors.hpp"

#include <climits>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace {

using namespace tulle::posix;

constexpr int k_cannot_wait = -2; // the kernel does it instead

// A question that does not wait. A signal that interrupts it may be for another thread; one for the
// caller ends the wait that follows.
template <class Ask> int uninterrupted_answer(Ask ask) noexcept {
    int found = -1;
    do found = ask();
    while (found < 0 && errno == EINTR);
    return found;
}

// `look`, `ask`, the number of what is ready, and `wait` as that of the reactor, by turns. 0 is
// returned when the time is over; k_cannot_wait if the reactor cannot wait for it.
template <class Look, class Ask, class Wait>
int wait_for_some(thread& t, Look look, Ask ask, Wait wait) {
    for (int error = 0;;) {
        look();
        int const found = ask();
        if (found != 0 || error == ETIMEDOUT) return found;
        {
            kept_errno const kept;
            error = wait();
        }
        if (error == ECANCELED) {
            if (attend(t) != interruption::none) return fail(EINTR);
            error = 0;
        }
        if (error == EBADF) error = 0; // closed meanwhile, which counts as ready
        if (error != 0 && error != ETIMEDOUT) return k_cannot_wait;
    }
}

template <class Ask>
int wait_for_one_of(thread& t, std::span<pollfd const> asked, std::uint64_t deadline, Ask ask) {
    tulle::io::awaited_descriptors some(asked);
    if (!some.is_valid()) return k_cannot_wait;
    return wait_for_some(
        t, [&some] { some.look(); }, ask, [&] { return some.wait(interruptible(&t, deadline)); });
}

std::uint64_t deadline_after_ms(int ms) noexcept {
    if (ms < 0) return tulle::wait::k_never;
    return deadline_after({ms / 1000, ms % 1000 * 1'000'000L});
}

// What is left of a limit, for the kernel; null: there is none.
class time_left {
public:
    explicit time_left(std::uint64_t deadline) noexcept
        : m_has_limit(deadline != tulle::wait::k_never) {
        if (m_has_limit) m_time = left_until(deadline);
    }
    [[nodiscard]] timespec const* get() const noexcept { return m_has_limit ? &m_time : nullptr; }

private:
    bool m_has_limit;
    timespec m_time{};
};

int ms_until(std::uint64_t deadline) noexcept {
    if (deadline == tulle::wait::k_never) return -1;
    timespec const left = left_until(deadline);
    return static_cast<int>(left.tv_sec * 1000 + (left.tv_nsec + 999'999) / 1'000'000);
}

// Null: no limit.
std::uint64_t deadline_after_time(timespec const* time) noexcept {
    return time == nullptr ? tulle::wait::k_never : deadline_after(*time);
}
bool is_odd(timespec const* time) noexcept {
    return time != nullptr && (time->tv_sec < 0 || !is_time(*time));
}
bool is_odd(timeval const* time) noexcept {
    return time != nullptr && (time->tv_sec < 0 || time->tv_usec < 0);
}
bool is_none(timespec const* time) noexcept {
    return time != nullptr && time->tv_sec == 0 && time->tv_nsec == 0;
}

// Of ppoll and pselect that have found nothing and are not to wait: as in the kernel, a handler
// that their mask lets in runs all the same. One that has found something leaves the signal alone.
int end_without_wait(thread& t) { return attend(t) == interruption::none ? 0 : fail(EINTR); }

int poll_by(thread& t, pollfd* asked, nfds_t count, std::uint64_t deadline, bool waits) {
    auto const ask = [=] {
        return uninterrupted_answer([=] { return TULLE_LIBC(poll)(asked, count, 0); });
    };
    if (!waits) return ask();
    // The system knows whether there is such a list. Of one that is asked for again and again it
    // is not asked twice.
    bool const is_doubtful = count != 1 || !is_readable(asked, sizeof *asked);
    if (is_doubtful) {
        if (int const found = ask(); found != 0) return found;
    }
    return wait_for_one_of(t, {asked, count}, deadline, ask);
}

int poll_until(pollfd* asked, nfds_t count, int ms) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(poll)(asked, count, ms);
    test_cancel(t);
    std::uint64_t const deadline = deadline_after_ms(ms);
    int const result = poll_by(*t, asked, count, deadline, ms != 0);
    if (result != k_cannot_wait) return result;
    return TULLE_LIBC(ppoll)(asked, count, time_left(deadline).get(), nullptr);
}

int poll_with_mask(pollfd* asked, nfds_t count, timespec const* time, sigset_t const* mask) {
    thread* const t = self();
    if (t == nullptr || is_odd(time)) {
        noted_wait const meanwhile = noted_wait::with_mask(mask);
        return TULLE_LIBC(ppoll)(asked, count, time, mask);
    }
    return with_other_mask(*t, mask, [=] {
        std::uint64_t const deadline = deadline_after_time(time);
        int const result = poll_by(*t, asked, count, deadline, !is_none(time));
        if (result == 0 && is_none(time)) return end_without_wait(*t);
        if (result != k_cannot_wait) return result;
        return TULLE_LIBC(ppoll)(asked, count, time_left(deadline).get(), nullptr);
    });
}

// --- select: the sets as a list of poll ---------------------------------------------------------

struct descriptor_sets {
    int count;
    fd_set* in;
    fd_set* out;
    fd_set* other;
};

// Sets of 0 to FD_SETSIZE numbers that can be read.
bool make_sense(descriptor_sets const& asked) noexcept {
    if (asked.count < 0 || asked.count > FD_SETSIZE) return false;
    constexpr auto k_numbers = static_cast<int>(NFDBITS);
    auto const words = static_cast<std::size_t>((asked.count + k_numbers - 1) / k_numbers);
    auto const is_there = [=](fd_set const* set) {
        return set == nullptr || is_readable(set, words * sizeof(fd_mask));
    };
    return is_there(asked.in) && is_there(asked.out) && is_there(asked.other);
}

bool has(fd_set const* set, int number) noexcept { return set != nullptr && FD_ISSET(number, set); }

nfds_t list_of(descriptor_sets const& asked, pollfd* list) noexcept {
    nfds_t count = 0;
    for (int number = 0; number < asked.count; ++number) {
        int const events = (has(asked.in, number) ? POLLIN : 0) |
                           (has(asked.out, number) ? POLLOUT : 0) |
                           (has(asked.other, number) ? POLLPRI : 0);
        if (events != 0) list[count++] = {number, static_cast<short>(events), 0};
    }
    return count;
}

// The sets as they were, for each question. Of each only as much is the program's as the kernel
// looks at.
class question {
public:
    explicit question(descriptor_sets const& asked) noexcept : m_asked(asked) {
        copy(asked.in, &m_in);
        copy(asked.out, &m_out);
        copy(asked.other, &m_other);
    }
    void restore() noexcept {
        if (m_asked.in != nullptr) copy(&m_in, m_asked.in);
        if (m_asked.out != nullptr) copy(&m_out, m_asked.out);
        if (m_asked.other != nullptr) copy(&m_other, m_asked.other);
    }
    [[nodiscard]] int ask() noexcept {
        restore();
        return uninterrupted_answer([this] { // an error leaves the sets alone
            timeval none{0, 0};
            return TULLE_LIBC(select)(m_asked.count, m_asked.in, m_asked.out, m_asked.other, &none);
        });
    }
    // While the caller waits: as in the kernel, a descriptor that is closed by then is ready.
    [[nodiscard]] int ask_again() noexcept {
        int const before = errno;
        int found = ask();
        if (found >= 0 || errno != EBADF) return found;
        question open = *this;
        open.drop_closed();
        found = open.ask();
        if (found < 0) return found;
        errno = before;
        return found + add_difference(m_in, open.m_in, m_asked.in) +
               add_difference(m_out, open.m_out, m_asked.out) +
               add_difference(m_other, open.m_other, m_asked.other);
    }

private:
    void copy(fd_set const* set, fd_set* to) const noexcept {
        constexpr std::size_t k_bits = 8 * sizeof(long);
        auto const count = static_cast<std::size_t>(m_asked.count);
        if (set != nullptr) std::memcpy(to, set, (count + k_bits - 1) / k_bits * sizeof(long));
    }

    void drop_closed() noexcept {
        for (int number = 0; number < m_asked.count; ++number) {
            if (fcntl(number, F_GETFD) >= 0) continue;
            for (fd_set* const set : {&m_in, &m_out, &m_other}) FD_CLR(number, set);
        }
    }
    // How many are in one set, but not in the other, which are then found, too.
    int add_difference(fd_set const& all, fd_set const& some, fd_set* found) const noexcept {
        int count = 0;
        for (int number = 0; found != nullptr && number < m_asked.count; ++number) {
            if (!FD_ISSET(number, &all) || FD_ISSET(number, &some)) continue;
            FD_SET(number, found);
            ++count;
        }
        return count;
    }

    descriptor_sets m_asked;
    fd_set m_in, m_out, m_other;
};

int select_until(thread& t, descriptor_sets const& asked, question& again, std::uint64_t deadline,
                 bool waits) {
    if (int const found = again.ask(); found != 0 || !waits) return found;
    std::unique_ptr<pollfd[]> const list(new (std::nothrow) pollfd[FD_SETSIZE]);
    again.restore();
    if (list == nullptr) return k_cannot_wait;
    std::span<pollfd const> const some(list.get(), list_of(asked, list.get()));
    int const found = wait_for_one_of(t, some, deadline, [&again] { return again.ask_again(); });
    if (found < 0) again.restore(); // an error leaves them as they were
    return found;
}

// Linux leaves what is left of the time in it.
void leave_rest(timeval* time, std::uint64_t deadline) noexcept {
    timespec const left = left_until(deadline);
    time->tv_sec = left.tv_sec;
    time->tv_usec = left.tv_nsec / 1000;
}

} // namespace

TULLE_INTERPOSE int poll(pollfd* asked, nfds_t count, int ms) {
    return poll_until(asked, count, ms);
}

TULLE_INTERPOSE int ppoll(pollfd* asked, nfds_t count, timespec const* time, sigset_t const* mask) {
    return poll_with_mask(asked, count, time, mask);
}

TULLE_INTERPOSE int pselect(int count, fd_set* in, fd_set* out, fd_set* other, timespec const* time,
                            sigset_t const* mask) {
    thread* const t = self();
    descriptor_sets const asked{count, in, out, other};
    if (t == nullptr || !make_sense(asked) || is_odd(time)) {
        noted_wait const meanwhile = noted_wait::with_mask(mask);
        return TULLE_LIBC(pselect)(count, in, out, other, time, mask);
    }
    return with_other_mask(*t, mask, [=] {
        question again(asked);
        std::uint64_t const deadline = deadline_after_time(time);
        int result = select_until(*t, asked, again, deadline, !is_none(time));
        if (result == 0 && is_none(time)) {
            result = end_without_wait(*t);
            if (result < 0) again.restore(); // an error leaves them as they were
        }
        if (result != k_cannot_wait) return result;
        return TULLE_LIBC(pselect)(count, in, out, other, time_left(deadline).get(), nullptr);
    });
}

TULLE_INTERPOSE int select(int count, fd_set* in, fd_set* out, fd_set* other, timeval* time) {
    thread* const t = self();
    descriptor_sets const asked{count, in, out, other};
    if (t == nullptr || !make_sense(asked) || is_odd(time))
        return TULLE_LIBC(select)(count, in, out, other, time);
    test_cancel(t);
    std::uint64_t const deadline = time == nullptr
                                       ? tulle::wait::k_never
                                       : deadline_after({time->tv_sec, time->tv_usec * 1000});
    question again(asked);
    bool const waits = time == nullptr || time->tv_sec != 0 || time->tv_usec != 0;
    int const result = select_until(*t, asked, again, deadline, waits);
    if (time != nullptr) leave_rest(time, deadline);
    if (result != k_cannot_wait) return result;
    return TULLE_LIBC(select)(count, in, out, other, time); // what is left of it
}

extern "C" __attribute__((noreturn)) void __chk_fail();

TULLE_INTERPOSE int __poll_chk(pollfd* asked, nfds_t count, int ms, size_t room) {
    if (room / sizeof *asked < count) __chk_fail();
    return poll_until(asked, count, ms);
}

TULLE_INTERPOSE int __ppoll_chk(pollfd* asked, nfds_t count, timespec const* time,
                                sigset_t const* mask, size_t room) {
    if (room / sizeof *asked < count) __chk_fail();
    return poll_with_mask(asked, count, time, mask);
}

namespace {

// The C library's epoll_wait may be made of its epoll_pwait, which is ours in a program that is
// linked statically.
int wait_in_kernel(int all, epoll_event* events, int most, int ms) {
    return TULLE_LIBC(epoll_pwait)(all, events, most, ms, nullptr);
}

int epoll_by(thread& t, int all, epoll_event* events, int most, std::uint64_t deadline,
             bool waits) {
    auto const ask = [=] { return wait_in_kernel(all, events, most, 0); };
    if (!waits) return ask();
    auto& reactor = tulle::io::reactor::instance();
    auto seen = tulle::io::k_never_looked;
    return wait_for_some(
        t, [&] { seen = reactor.look(all, direction::in); }, ask,
        [&] { return reactor.wait(all, direction::in, seen, interruptible(&t, deadline)); });
}

} // namespace

TULLE_INTERPOSE int epoll_wait(int all, epoll_event* events, int most, int ms) {
    thread* const t = self();
    if (t == nullptr) return wait_in_kernel(all, events, most, ms);
    test_cancel(t);
    std::uint64_t const deadline = deadline_after_ms(ms);
    int const result = epoll_by(*t, all, events, most, deadline, ms != 0);
    return result == k_cannot_wait ? wait_in_kernel(all, events, most, ms_until(deadline)) : result;
}

TULLE_INTERPOSE int epoll_pwait(int all, epoll_event* events, int most, int ms,
                                sigset_t const* mask) {
    thread* const t = self();
    if (t == nullptr) {
        noted_wait const meanwhile = noted_wait::with_mask(mask);
        return TULLE_LIBC(epoll_pwait)(all, events, most, ms, mask);
    }
    return with_other_mask(*t, mask, [=] {
        std::uint64_t const deadline = deadline_after_ms(ms);
        int const result = epoll_by(*t, all, events, most, deadline, ms != 0);
        return result == k_cannot_wait ? wait_in_kernel(all, events, most, ms_until(deadline))
                                       : result;
    });
}

TULLE_INTERPOSE int epoll_pwait2(int all, epoll_event* events, int most, timespec const* time,
                                 sigset_t const* mask) {
    thread* const t = self();
    if (t == nullptr || is_odd(time)) {
        noted_wait const meanwhile = noted_wait::with_mask(mask);
        return TULLE_LIBC(epoll_pwait2)(all, events, most, time, mask);
    }
    return with_other_mask(*t, mask, [=] {
        std::uint64_t const deadline = deadline_after_time(time);
        int const result = epoll_by(*t, all, events, most, deadline, !is_none(time));
        if (result != k_cannot_wait) return result;
        return TULLE_LIBC(epoll_pwait2)(all, events, most, time_left(deadline).get(), nullptr);
    });
}

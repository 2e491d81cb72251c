// SPDX-License-Identifier: Apache-2.0
// Waits for one of several descriptors: for each of them, if they are few; else an epoll of the
// call's own has them all, and the thread waits for that epoll as for any other descriptor.
#include "io/awaited_few.hpp"
#include "io/tries.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include <sys/epoll.h>
#include <unistd.h>

namespace tulle::io {

namespace {

ssize_t poll_now(std::span<pollfd> asked) noexcept {
    ssize_t found = -EINTR;
    while (found == -EINTR)
        found = result_of(::poll(asked.data(), static_cast<nfds_t>(asked.size()), 0));
    return found;
}

// poll(2) and epoll(7) have the same bits.
std::uint32_t poll_events(pollfd const& p) noexcept {
    static_assert(POLLIN == EPOLLIN && POLLPRI == EPOLLPRI && POLLOUT == EPOLLOUT);
    return static_cast<std::uint16_t>(p.events);
}

// A number may be asked about several times.
int add_to(os::epoll& all, std::span<pollfd const> asked, pollfd const& p) noexcept {
    int const error = all.add(p.fd, poll_events(p), nullptr);
    if (error != EEXIST) return error;
    std::uint32_t together = 0;
    for (pollfd const& other : asked) together |= other.fd == p.fd ? poll_events(other) : 0;
    return all.change(p.fd, together, nullptr);
}

int add_all(os::epoll& all, std::span<pollfd const> asked) noexcept {
    for (pollfd const& p : asked) {
        if (p.fd < 0) continue;
        int const error = add_to(all, asked, p);
        // EPERM: what it is asked for never comes to be of such a file, such as a regular one.
        if (error != 0 && error != EPERM) return error;
    }
    return 0;
}

// A file that cannot be waited for, or is not there, is reported by poll(2) itself.
ssize_t poll_anew(os::epoll& all, std::span<pollfd> asked, detail::limit const& until) noexcept {
    for (;;) {
        // What the epoll has told of may be gone again: it is asked anew.
        int const error = reactor::instance().wait(all.number(), direction::in, k_never_looked,
                                                   wait::limit<parking>(until));
        ssize_t const found = poll_now(asked);
        if (found != 0 || error == ETIMEDOUT) return found;
        if (error != 0) return -error;
    }
}

ssize_t poll_many(std::span<pollfd> asked, detail::limit const& until) noexcept {
    ssize_t const found = poll_now(asked);
    if (found != 0) return found;
    os::epoll all;
    if (int const error = all.open()) return -error;
    reactor::instance().expect_new(all.number());
    int const error = add_all(all, asked);
    // EBADF: one of them has been closed since, which counts as ready.
    ssize_t const result = error == 0       ? poll_anew(all, asked, until)
                           : error == EBADF ? poll_now(asked)
                                            : -error;
    // Nobody else waits for it; but its number is one of the next file.
    static_cast<void>(reactor::instance().replace(
        all.number(),
        [](void* e) noexcept {
            static_cast<os::epoll*>(e)->close();
            return 0;
        },
        &all));
    return result;
}

// -EPERM: one of them is not waited for in the reactor.
ssize_t poll_few(awaited_few& few, std::span<pollfd> asked, detail::limit const& until) noexcept {
    for (int error = 0;;) {
        few.look();
        ssize_t const found = poll_now(asked);
        if (found != 0 || error == ETIMEDOUT) return found;
        if (error != 0) return -error;
        error = few.wait(wait::limit<parking>(until));
    }
}

ssize_t poll_within(std::span<pollfd> asked, detail::limit const& until) noexcept {
    awaited_few few;
    ssize_t const found = few.add_all(asked) ? poll_few(few, asked, until) : -EPERM;
    return found == -EPERM ? poll_many(asked, until) : found;
}

// --- select --------------------------------------------------------------------------------------

struct sets {
    fd_set* read;
    fd_set* write;
    fd_set* except;
};

bool holds(fd_set const* set, int number) noexcept {
    return set != nullptr && FD_ISSET(number, set);
}

short asked_of(sets const& s, int number) noexcept {
    int const events = (holds(s.read, number) ? POLLIN : 0) |
                       (holds(s.write, number) ? POLLOUT : 0) |
                       (holds(s.except, number) ? POLLPRI : 0);
    return static_cast<short>(events);
}

std::size_t fill(std::span<pollfd> asked, sets const& s, int count) noexcept {
    std::size_t used = 0;
    for (int number = 0; number < count; ++number) {
        short const events = asked_of(s, number);
        if (events != 0) asked[used++] = {number, events, 0};
    }
    return used;
}

// poll tells of an end and of errors also where only the other direction is asked about.
constexpr int k_readable = POLLIN | POLLHUP | POLLERR;
constexpr int k_writable = POLLOUT | POLLERR;

bool is_told(pollfd const& p, int wanted, int found) noexcept {
    return (p.events & wanted) != 0 && (p.revents & found) != 0;
}

bool is_told(pollfd const& p) noexcept {
    return (p.revents & POLLNVAL) != 0 || is_told(p, POLLIN, k_readable) ||
           is_told(p, POLLOUT, k_writable) || is_told(p, POLLPRI, POLLPRI);
}

int keep(fd_set* set, pollfd const& p, int wanted, int found) noexcept {
    if (set == nullptr || (p.events & wanted) == 0) return 0;
    if (is_told(p, wanted, found)) return 1;
    FD_CLR(p.fd, set);
    return 0;
}

int take_result(std::span<pollfd const> asked, sets const& s) noexcept {
    int count = 0;
    for (pollfd const& p : asked) {
        if ((p.revents & POLLNVAL) != 0) return -EBADF;
    }
    for (pollfd const& p : asked) {
        count += keep(s.read, p, POLLIN, k_readable);
        count += keep(s.write, p, POLLOUT, k_writable);
        count += keep(s.except, p, POLLPRI, POLLPRI);
    }
    return count;
}

// What poll tells of may be nothing that was asked about, and it tells of that all the time.
int select_among(int count, sets const& s, std::span<pollfd> room,
                 detail::limit const& until) noexcept {
    std::span<pollfd> const asked = room.first(fill(room, s, count));
    for (pauses between;;) {
        ssize_t const found = poll_within(asked, until);
        if (found < 0) return static_cast<int>(found);
        bool const is_one_told =
            std::any_of(asked.begin(), asked.end(), [](pollfd const& p) { return is_told(p); });
        if (found == 0 || is_one_told) return take_result(asked, s);
        int const error = between.pause(until);
        if (error == ETIMEDOUT) return take_result(asked, s);
        if (error != 0) return -error;
    }
}

int select_within(int count, sets const& s, detail::limit const& until) noexcept {
    if (count < 0 || count > FD_SETSIZE) return -EINVAL;
    constexpr std::size_t k_few = 32;
    auto const needed = static_cast<std::size_t>(count);
    if (needed <= k_few) {
        std::array<pollfd, k_few> room;
        return select_among(count, s, room, until);
    }
    std::unique_ptr<pollfd[]> const room(new (std::nothrow) pollfd[needed]);
    return room != nullptr ? select_among(count, s, {room.get(), needed}, until) : -ENOMEM;
}

} // namespace

int poll(pollfd* asked, std::size_t count) noexcept {
    return static_cast<int>(poll_within({asked, count}, k_forever));
}
int poll(pollfd* asked, std::size_t count, wait_limit const& limit) noexcept {
    return static_cast<int>(poll_within({asked, count}, limit.get()));
}

int select(int count, fd_set* read, fd_set* write, fd_set* except) noexcept {
    return select_within(count, {read, write, except}, k_forever);
}
int select(int count, fd_set* read, fd_set* write, fd_set* except,
           wait_limit const& limit) noexcept {
    return select_within(count, {read, write, except}, limit.get());
}

} // namespace tulle::io

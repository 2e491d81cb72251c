// SPDX-License-Identifier: Apache-2.0
// Waits for one of several descriptors.
#include "io/awaited_descriptors.hpp"
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

#include <poll.h>
#include <sys/select.h>

namespace tulle::io {

namespace {

ssize_t poll_now(std::span<pollfd> asked) noexcept {
    ssize_t found = -EINTR;
    while (found == -EINTR)
        found = result_of(::poll(asked.data(), static_cast<nfds_t>(asked.size()), 0));
    return found;
}

// A file that cannot be waited for, or is not there, is reported by poll(2) itself. What has ended
// the wait may be gone again: all are asked anew.
ssize_t poll_within(std::span<pollfd> asked, detail::limit const& until) noexcept {
    awaited_descriptors some(asked);
    for (int error = 0;;) {
        some.look();
        ssize_t const found = poll_now(asked);
        if (found != 0 || error == ETIMEDOUT) return found;
        if (!some.is_valid()) return -ENOMEM;
        if (error != 0) return -error;
        error = some.wait(wait::limit<parking>(until));
    }
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

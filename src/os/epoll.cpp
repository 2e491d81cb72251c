// SPDX-License-Identifier: Apache-2.0
#include "os/epoll.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {

int epoll::open() noexcept {
    m_file = private_descriptor([] { return ::epoll_create1(EPOLL_CLOEXEC); });
    return m_file.is_open() ? 0 : errno;
}

namespace {

int control(int file, int operation, int descriptor, std::uint32_t events, void* tag) noexcept {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = tag;
    return ::epoll_ctl(file, operation, descriptor, &wanted) == 0 ? 0 : errno;
}

} // namespace

int epoll::add(int descriptor, std::uint32_t events, void* tag) noexcept {
    return control(number(), EPOLL_CTL_ADD, descriptor, events, tag);
}

int epoll::change(int descriptor, std::uint32_t events, void* tag) noexcept {
    return control(number(), EPOLL_CTL_MOD, descriptor, events, tag);
}

void epoll::remove(int descriptor) noexcept {
    static_cast<void>(control(number(), EPOLL_CTL_DEL, descriptor, 0, nullptr));
}

int epoll::wait(std::span<epoll_event> out, int timeout_ms) noexcept {
    return std::max(::epoll_wait(number(), out.data(), static_cast<int>(out.size()), timeout_ms),
                    0);
}

namespace {

constexpr std::uint64_t k_ns_per_s = 1'000'000'000;
constexpr std::uint64_t k_ns_per_ms = 1'000'000;

// -1 with ENOSYS: the system has no such call.
int wait_for_ns(int file, std::span<epoll_event> out, std::uint64_t ns) noexcept {
#ifdef SYS_epoll_pwait2
    struct {
        std::int64_t seconds, nanoseconds; // on 32-bit machines, too
    } const time{static_cast<std::int64_t>(ns / k_ns_per_s),
                 static_cast<std::int64_t>(ns % k_ns_per_s)};
    return static_cast<int>(::syscall(SYS_epoll_pwait2, file, out.data(),
                                      static_cast<int>(out.size()), &time, nullptr, 0));
#else
    static_cast<void>(file), static_cast<void>(out), static_cast<void>(ns);
    errno = ENOSYS;
    return -1;
#endif
}

} // namespace

int epoll::wait_until(std::span<epoll_event> out, std::uint64_t deadline_ns) noexcept {
    if (deadline_ns == k_no_deadline) return wait(out, -1);
    std::uint64_t const now = monotonic_ns();
    std::uint64_t const left = deadline_ns > now ? deadline_ns - now : 0;
    int const found = wait_for_ns(number(), out, left);
    if (found >= 0 || errno == EINTR) return std::max(found, 0);
    std::uint64_t const most = std::numeric_limits<int>::max();
    std::uint64_t const ms = left / k_ns_per_ms + (left % k_ns_per_ms != 0 ? 1 : 0);
    return wait(out, static_cast<int>(std::min(ms, most)));
}

} // namespace tulle::os

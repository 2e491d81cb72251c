// SPDX-License-Identifier: Apache-2.0
#include "os/epoll.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

namespace tulle::os {

int epoll::open() noexcept {
    m_file = ::epoll_create1(EPOLL_CLOEXEC);
    return m_file >= 0 ? 0 : errno;
}

void epoll::close() noexcept {
    if (m_file >= 0) ::close(std::exchange(m_file, -1));
}

// The descriptor may be known already, or its number may have gone over to another file since.
int epoll::arm(int descriptor, std::uint32_t events, void* tag) noexcept {
    epoll_event wanted{};
    wanted.events = events | EPOLLONESHOT;
    wanted.data.ptr = tag;
    if (::epoll_ctl(m_file, EPOLL_CTL_MOD, descriptor, &wanted) == 0) return 0;
    if (errno != ENOENT) return errno;
    return ::epoll_ctl(m_file, EPOLL_CTL_ADD, descriptor, &wanted) == 0 ? 0 : errno;
}

int epoll::wait(std::span<epoll_event> out, int timeout_ms) noexcept {
    return std::max(::epoll_wait(m_file, out.data(), static_cast<int>(out.size()), timeout_ms), 0);
}

} // namespace tulle::os

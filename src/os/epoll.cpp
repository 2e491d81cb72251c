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

namespace {

int control(int file, int operation, int descriptor, std::uint32_t events, void* tag) noexcept {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = tag;
    return ::epoll_ctl(file, operation, descriptor, &wanted) == 0 ? 0 : errno;
}

} // namespace

int epoll::add(int descriptor, std::uint32_t events, void* tag) noexcept {
    return control(m_file, EPOLL_CTL_ADD, descriptor, events, tag);
}

int epoll::change(int descriptor, std::uint32_t events, void* tag) noexcept {
    return control(m_file, EPOLL_CTL_MOD, descriptor, events, tag);
}

int epoll::wait(std::span<epoll_event> out, int timeout_ms) noexcept {
    return std::max(::epoll_wait(m_file, out.data(), static_cast<int>(out.size()), timeout_ms), 0);
}

} // namespace tulle::os

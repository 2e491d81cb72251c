// SPDX-License-Identifier: Apache-2.0
#include "io/awaited_descriptors.hpp"

#include "io/reactor.hpp"

#include <new>

#include <sys/epoll.h>

namespace tulle::io {

namespace {

// poll(2) and epoll(7) have the same bits. An error and an end are told in any case.
std::uint32_t events_wanted(pollfd const& p) noexcept {
    static_assert(POLLIN == EPOLLIN && POLLPRI == EPOLLPRI && POLLOUT == EPOLLOUT &&
                  POLLRDHUP == EPOLLRDHUP && POLLERR == EPOLLERR && POLLHUP == EPOLLHUP);
    auto const asked = static_cast<std::uint32_t>(static_cast<unsigned short>(p.events));
    return (asked & ~std::uint32_t{POLLNVAL}) | EPOLLERR | EPOLLHUP;
}

} // namespace

awaited_descriptors::awaited_descriptors(std::span<pollfd const> asked) noexcept {
    if (asked.size() > k_few) {
        m_many.reset(new (std::nothrow) awaited_descriptor[asked.size()]);
        m_has_memory = m_many != nullptr;
        if (!m_has_memory) return;
    }
    m_all = {m_many != nullptr ? m_many.get() : m_few.data(), asked.size()};
    for (std::size_t k = 0; k < asked.size(); ++k) {
        m_all[k].number = asked[k].fd;
        m_all[k].events = events_wanted(asked[k]);
    }
}

void awaited_descriptors::look() noexcept {
    reactor const& r = reactor::instance();
    for (awaited_descriptor& a : m_all) {
        if (a.number < 0) continue;
        a.seen_in = r.look(a.number, direction::in);
        a.seen_out = r.look(a.number, direction::out);
    }
}

int awaited_descriptors::wait(wait::limit<parking> until) noexcept {
    return reactor::instance().wait_for_any(m_all, until);
}

} // namespace tulle::io

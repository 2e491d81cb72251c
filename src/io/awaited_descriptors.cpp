// SPDX-License-Identifier: Apache-2.0
#include "io/awaited_descriptors.hpp"

#include "io/reactor.hpp"

#include <new>

#include <sys/epoll.h>

namespace tulle::io {

namespace {

struct event_names {
    int of_poll;
    std::uint32_t of_epoll;
};
// The numbers differ on some architectures.
constexpr event_names k_events[] = {
    {POLLIN, EPOLLIN},         {POLLPRI, EPOLLPRI},       {POLLOUT, EPOLLOUT},
    {POLLRDNORM, EPOLLRDNORM}, {POLLRDBAND, EPOLLRDBAND}, {POLLWRNORM, EPOLLWRNORM},
    {POLLWRBAND, EPOLLWRBAND}, {POLLMSG, EPOLLMSG},       {POLLRDHUP, EPOLLRDHUP},
};

// An error and an end are told in any case.
std::uint32_t events_wanted(pollfd const& p) noexcept {
    std::uint32_t wanted = EPOLLERR | EPOLLHUP;
    for (event_names const& e : k_events)
        if ((p.events & e.of_poll) != 0) wanted |= e.of_epoll;
    return wanted;
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
        m_all[k].asked = asked[k].events;
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

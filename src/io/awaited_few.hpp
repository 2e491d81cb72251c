// SPDX-License-Identifier: Apache-2.0
// What poll asks for, where that is little: the thread waits at the descriptors themselves, and
// nothing need be made to wait with.
#pragma once

#include "io/reactor.hpp"

#include <array>
#include <cstddef>
#include <span>

#include <poll.h>

namespace tulle::io {

class awaited_few {
public:
    awaited_few() noexcept = default;
    awaited_few(int number, direction way) noexcept
        : m_few{{{number, way, k_never_looked}}}, m_count(1) {}

    // False: it is too much, or nothing, or something that the reactor does not tell of.
    [[nodiscard]] bool add_all(std::span<pollfd const> asked) noexcept {
        for (pollfd const& p : asked) {
            if (p.fd < 0) continue;
            if ((p.events & ~(POLLIN | POLLOUT)) != 0 || p.events == 0) return false;
            if ((p.events & POLLIN) != 0 && !add(p.fd, direction::in)) return false;
            if ((p.events & POLLOUT) != 0 && !add(p.fd, direction::out)) return false;
        }
        return m_count != 0;
    }
    // Before a question.
    void look() noexcept {
        for (awaited_one& one : few()) one.seen = reactor::instance().look(one.number, one.way);
    }
    // After a question that has found nothing. A file that is closed meanwhile counts as ready.
    [[nodiscard]] wait_error wait(wait::limit<parking> until) noexcept {
        awaited_one const& first = m_few[0];
        wait_error const error =
            m_count == 1 ? reactor::instance().wait(first.number, first.way, first.seen, until)
                         : reactor::instance().wait_for_any(few(), until);
        return error == EBADF ? 0 : error;
    }

private:
    [[nodiscard]] std::span<awaited_one> few() noexcept { return std::span(m_few).first(m_count); }
    bool add(int number, direction way) noexcept {
        if (m_count == m_few.size()) return false;
        m_few[m_count++] = {number, way, k_never_looked};
        return true;
    }

    std::array<awaited_one, reactor::k_most_awaited> m_few{};
    std::size_t m_count = 0;
};

} // namespace tulle::io

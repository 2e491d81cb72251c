// SPDX-License-Identifier: Apache-2.0
// The numbers of threads that wait, for people.
#pragma once

#include "sync/parking.hpp"
#include "sync/waits.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::sync {

class waiter_ids {
public:
    waiter_ids(std::uint64_t* to, std::size_t capacity) noexcept : m_to(to), m_capacity(capacity) {}

    // Under the lock without which nobody resumes the waiter. 0: a forked thread that has not asked
    // for its number.
    void add(waiter<parking> const& w) noexcept {
        sched::fiber const& f = *w.thread;
        if (m_count < m_capacity) m_to[m_count] = f.frame != nullptr ? f.frame->id : f.base.id;
        ++m_count;
    }
    // Also those for which there was no room.
    [[nodiscard]] std::size_t count() const noexcept { return m_count; }

private:
    std::uint64_t* m_to;
    std::size_t m_capacity;
    std::size_t m_count = 0;
};

} // namespace tulle::sync

// SPDX-License-Identifier: Apache-2.0
// The numbers of threads that wait, for human-readable output.
#pragma once

#include "sync/parking.hpp"
#include "sync/waits.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::sync {

class waiter_ids {
public:
    waiter_ids(std::uint64_t* ids, std::size_t capacity) noexcept
        : m_ids(ids), m_capacity(capacity) {}

    // Called under the lock without which nobody resumes the waiter. The number is 0 for a forked
    // thread that has not asked for it.
    void add(waiter<parking> const& w) noexcept {
        sched::fiber const& f = *w.thread;
        if (m_count < m_capacity) m_ids[m_count] = f.frame != nullptr ? f.frame->id : f.base.id;
        ++m_count;
    }
    // The count includes those for which there was no room.
    [[nodiscard]] std::size_t count() const noexcept { return m_count; }

private:
    std::uint64_t* m_ids;
    std::size_t m_capacity;
    std::size_t m_count = 0;
};

} // namespace tulle::sync

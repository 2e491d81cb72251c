// SPDX-License-Identifier: Apache-2.0
// A forked thread that helps with a loop, if it is stolen. If it is not, it costs what any fork
// costs that is joined first.
#pragma once

#include "sched/records/record_deque.hpp"

#include <tulle/detail/current.hpp>

namespace tulle::loop {

class job;

// Made and destroyed by one thread, the youngest first.
class invitation {
public:
    explicit invitation(job& loop) noexcept;
    invitation(invitation const&) = delete;
    invitation& operator=(invitation const&) = delete;
    // Takes the invitation back; if a thread has come in by it, waits until that thread has ended.
    ~invitation();

private:
    static void come_in(detail::record* slot) noexcept;
    [[nodiscard]] bool is_stolen() const noexcept;
    void wait_a_little() const noexcept;
    TULLE_COLD void withdraw_cold() noexcept;

    job& m_job;
    detail::deque_front* m_deque;
    detail::record* m_slot;
};

} // namespace tulle::loop

// SPDX-License-Identifier: Apache-2.0
// The spares of one worker: suspended fibers with an idle loop, of which it takes one whenever a
// thread waits and nothing else is ready. One of them, the reserve, is kept back for when there is
// no memory for another one (E2 of modes/stack_shortage.md). Only the worker's own OS thread uses
// the stock.
#pragma once

#include "base/debug_access.hpp"
#include "sched/runnable.hpp"
#include "sched/stacks/shared_spares.hpp"

#include <utility>

namespace tulle::sched {

class spare_stock {
public:
    // --- spares ----------------------------------------------------------------------------------
    [[nodiscard]] bool empty() const noexcept { return m_list.empty(); }
    [[nodiscard]] int size() const noexcept { return m_size; }
    void put(runnable& spare) noexcept {
        m_list.push_front(spare);
        ++m_size;
    }
    // There is one. The one that came last, whose memory is most likely in a cache.
    runnable& take() noexcept {
        --m_size;
        return *m_list.pop_front();
    }
    // Whether there are so many that some should go to the other workers.
    [[nodiscard]] bool is_full() const noexcept { return m_size > m_most; }
    // Whether one more may be put without that.
    [[nodiscard]] bool has_room() const noexcept { return m_size < m_most; }
    // Half of what it may keep stays, so that the next few switches need no lock.
    void share(shared_spares& shared) noexcept {
        shared.take_from(m_list, m_size, (m_most + 1) / 2);
    }
    // Where the number of stacks is limited: from now on it keeps one, and gives the others at
    // once.
    void keep_one() noexcept { m_most = 1; }

    // --- the reserve -----------------------------------------------------------------------------
    [[nodiscard]] bool has_reserve() const noexcept { return m_reserve != nullptr; }
    void set_reserve(runnable& spare) noexcept { m_reserve = &spare; }
    [[nodiscard]] runnable* take_reserve() noexcept { return std::exchange(m_reserve, nullptr); }
    // Makes a spare the reserve if there is none, and another spare is left.
    void refill_reserve() noexcept {
        if (m_reserve == nullptr && m_size > 1) m_reserve = &take();
    }

private:
    friend struct base::debug_access;
    runnable_list m_list;
    int m_size = 0;
    int m_most = 64;
    runnable* m_reserve = nullptr;
};

} // namespace tulle::sched

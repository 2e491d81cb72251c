// SPDX-License-Identifier: Apache-2.0
// Suspended fibers with an idle loop that no worker keeps for itself. A worker that has more of
// them than it may keep gives some here, and one that has none takes one before it makes a new
// stack. Any thread may call all of it.
#pragma once

#include "base/debug_access.hpp"
#include "base/spin_lock.hpp"
#include "sched/runnable.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sched {

class shared_spares {
public:
    // The one that came last, whose memory is most likely in a cache; null: there is none.
    [[nodiscard]] runnable* pop() noexcept {
        if (size_hint() == 0) return nullptr;
        std::lock_guard const held(m_lock);
        runnable* const spare = m_list.pop_front();
        if (spare != nullptr) change_size(-1);
        return spare;
    }
    // Moves spares from `own`, which holds `count` of them, until `kept` are left there.
    void take_from(runnable_list& own, int& count, int kept) noexcept {
        std::lock_guard const held(m_lock);
        for (; count > kept; --count) {
            m_list.push_front(*own.pop_front());
            change_size(1);
        }
    }
    // relaxed: a hint.
    [[nodiscard]] std::uint32_t size_hint() const noexcept {
        return m_size.load(std::memory_order_relaxed);
    }

private:
    friend struct base::debug_access;
    // relaxed: written under the lock; to others it is a hint.
    void change_size(int by) noexcept {
        m_size.store(m_size.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(by),
                     std::memory_order_relaxed);
    }

    base::spin_lock m_lock; // guards the list
    runnable_list m_list;
    std::atomic<std::uint32_t> m_size{0};
};

} // namespace tulle::sched

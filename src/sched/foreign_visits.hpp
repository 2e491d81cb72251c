// SPDX-License-Identifier: Apache-2.0
// OS threads without a worker that make a thread ready. It may run at once and stop the run time
// while they still look for somebody to wake. So workers are freed only when none is under way.
#pragma once

#include "sched/worker.hpp"

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace tulle::sched {

class foreign_visit {
public:
    foreign_visit() noexcept : m_counts(is_foreign()) {
        // relaxed: what the caller publishes, and whoever has seen that, comes after it.
        if (m_counts) s_under_way.fetch_add(1, std::memory_order_relaxed);
    }
    foreign_visit(foreign_visit const&) = delete;
    foreign_visit& operator=(foreign_visit const&) = delete;
    ~foreign_visit() {
        if (m_counts)
            s_under_way.fetch_sub(1, std::memory_order_release); // pairs with wait_for_all
    }

    static void wait_for_all() noexcept {
        while (s_under_way.load(std::memory_order_acquire) != 0) ::sched_yield();
    }
    // In a forked child, where nobody else is left.
    static void forget_all() noexcept {
        s_under_way.store(0, std::memory_order_relaxed); // relaxed: there is one thread
    }

private:
    [[nodiscard]] static bool is_foreign() noexcept {
        worker const* const w = this_worker();
        return w == nullptr || w->is_guest();
    }

    static inline constinit std::atomic<std::uint32_t> s_under_way{0};
    bool m_counts;
};

} // namespace tulle::sched

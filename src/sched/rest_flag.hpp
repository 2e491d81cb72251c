// SPDX-License-Identifier: Apache-2.0
// Whether a worker rests: it runs no thread, and holds no check of coherent memory. Others look at
// any time (dsm/grace_periods.hpp). Who finds it at rest has what its threads did before, behind an
// acquire fence; and who looks behind a seq_cst fence finds that it runs, or its threads find what
// was written ahead of that fence.
#pragma once

#include <atomic>

namespace tulle::sched {

template <class Machine> class rest_flag {
public:
    // By the worker itself. Each release pairs with a fence of who looks.
    void begin() noexcept { m_rests.store(true, std::memory_order_release); }
    void end() noexcept {
        m_rests.store(false, std::memory_order_relaxed);
        Machine::fence_seq_cst();
    }
    // By who starts its OS thread, which is not there yet.
    void reset() noexcept { m_rests.store(false, std::memory_order_relaxed); }
    // relaxed: a hint, or who asks has the fences.
    [[nodiscard]] bool is_set() const noexcept { return m_rests.load(std::memory_order_relaxed); }

private:
    typename Machine::template atomic<bool> m_rests{false};
};

} // namespace tulle::sched

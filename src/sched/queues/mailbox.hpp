// SPDX-License-Identifier: Apache-2.0
// Room for one thing that only the owner may take; whoever fills it has the only such thing. The
// owner checks before it sleeps, and the poster wakes it after a fence: G1, G2 and H2 of
// park/idle_set.hpp.
#pragma once

#include <atomic>

namespace tulle::sched {

template <class Machine, class T> class mailbox {
    template <class U> using atomic = typename Machine::template atomic<U>;

public:
    // pairs with take().
    void post(T& thing) noexcept { m_thing.store(&thing, std::memory_order_release); }
    // A hint. relaxed: take() decides.
    [[nodiscard]] bool looks_empty() const noexcept {
        return m_thing.load(std::memory_order_relaxed) == nullptr;
    }
    // The owner calls this. acquire pairs with post(): what was done to the thing before is
    // visible.
    [[nodiscard]] T* take() noexcept {
        return m_thing.exchange(nullptr, std::memory_order_acquire);
    }

private:
    atomic<T*> m_thing{nullptr};
};

} // namespace tulle::sched

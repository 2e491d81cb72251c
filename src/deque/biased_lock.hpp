// SPDX-License-Identifier: Apache-2.0
// A lock that one owner takes with two plain stores and a load, and strangers with a membarrier:
// for data that is nearly always used by its owner, but must stay reachable while the owner
// computes for long.
//   owner     E1 busy = 1; compiler barrier; E2 load revoked
//   stranger  F1 revoked = 1; heavy fence; F2 wait for busy == 0
// Either the owner sees `revoked` at E2 and goes through the mutex, or the stranger sees `busy` at
// F2 and waits for it to end.
// Source: biased locking with asymmetric Dekker synchronization (Dice, Huang and Yang 2001).
// The owner must not switch stacks or OS threads between enter and leave.
#pragma once

#include "base/spin_lock.hpp"

#include <tulle/detail/attributes.hpp>

#include <cstdint>

namespace tulle::deque {

template <class Machine> class biased_lock {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // Without heavy fences the lock is revoked for ever: the owner always takes the mutex.
    explicit biased_lock(bool asymmetric) noexcept
        : m_revoked(asymmetric ? 0 : 1), m_asymmetric(asymmetric) {}

    void owner_lock() noexcept {
        // E1; relaxed: ordered by the stranger's heavy fence.
        m_busy.store(1, std::memory_order_relaxed);
        Machine::compiler_barrier();
        // E2; acquire pairs with the release in stranger_unlock: what the stranger did is visible.
        if (TULLE_UNLIKELY(m_revoked.load(std::memory_order_acquire) != 0)) owner_lock_cold();
    }
    void owner_unlock() noexcept {
        if (TULLE_UNLIKELY(m_owner_has_mutex)) {
            m_owner_has_mutex = false;
            m_mutex.unlock();
        } else {
            m_busy.store(0, std::memory_order_release); // pairs with the acquire at F2
        }
    }

    // False: somebody else is in it, or the owner was preempted inside; try elsewhere.
    [[nodiscard]] bool stranger_try_lock() noexcept {
        if (m_mutex.looks_held() || !m_mutex.try_lock()) return false;
        if (!m_asymmetric) return true;
        m_revoked.store(1, std::memory_order_relaxed); // F1; relaxed: the heavy fence follows
        Machine::heavy_fence();
        for (int spins = 0; spins < k_patience; ++spins) {
            // F2; pairs with the release in owner_unlock.
            if (m_busy.load(std::memory_order_acquire) == 0) return true;
            Machine::pause();
        }
        stranger_unlock();
        return false;
    }
    void stranger_unlock() noexcept {
        // Pairs with the acquire at E2.
        if (m_asymmetric) m_revoked.store(0, std::memory_order_release);
        m_mutex.unlock();
    }

private:
    static constexpr int k_patience = 200;

    TULLE_COLD void owner_lock_cold() noexcept {
        m_busy.store(0, std::memory_order_release); // pairs with F2: a stranger may go on
        m_mutex.lock();
        m_owner_has_mutex = true;
    }

    atomic<std::uint32_t> m_busy{0};
    atomic<std::uint32_t> m_revoked;
    bool const m_asymmetric;
    bool m_owner_has_mutex = false; // the owner's own
    alignas(64) base::basic_spin_lock<Machine> m_mutex;
};

} // namespace tulle::deque

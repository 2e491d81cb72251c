// SPDX-License-Identifier: Apache-2.0
//
// A lock for short sections that no thread of ours may sleep in. It spins with the processor's hint and, when that lasts
// (the holder was preempted), lets the operating system run somebody else. Meets the Lockable requirements.
#pragma once

#include <atomic>

#include <sched.h>

#include "base/cache_line.hpp"

namespace tulle::os {

class spin_lock {
public:
    void lock() noexcept {
        while (!try_lock()) {
            wait_until_free();
        }
    }

    [[nodiscard]] bool try_lock() noexcept {
        // Acquire pairs with the release in unlock(); the load before it keeps the line shared while others hold the lock.
        return !m_locked.load(std::memory_order_relaxed) && !m_locked.exchange(true, std::memory_order_acquire);
    }

    void unlock() noexcept {
        m_locked.store(false, std::memory_order_release); // pairs with the exchange in try_lock()
    }

private:
    void wait_until_free() const noexcept {
        constexpr int k_pauses_before_yield = 200;
        int pauses = 0;
        while (m_locked.load(std::memory_order_relaxed)) { // relaxed: only a hint, try_lock() decides
            base::cpu_pause();
            if (++pauses == k_pauses_before_yield) {
                ::sched_yield();
                pauses = 0;
            }
        }
    }

    std::atomic<bool> m_locked{false};
};

} // namespace tulle::os

// SPDX-License-Identifier: Apache-2.0
// A test-and-set lock for sections of a few instructions.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/machine.hpp>
#include <tulle/detail/spin_wait.hpp>

#include <cstdint>

namespace tulle::base {

template <class Machine> class basic_spin_lock {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    void lock() noexcept {
        if (TULLE_UNLIKELY(!try_lock())) wait_cold();
    }
    // Pairs with unlock.
    [[nodiscard]] bool try_lock() noexcept {
        return m_held.exchange(1, std::memory_order_acquire) == 0;
    }
    // Pairs with try_lock.
    void unlock() noexcept { m_held.store(0, std::memory_order_release); }
    // A hint; relaxed: nothing is read on its strength.
    [[nodiscard]] bool looks_held() const noexcept {
        return m_held.load(std::memory_order_relaxed) != 0;
    }

private:
    TULLE_COLD void wait_cold() noexcept {
        detail::spin_wait<Machine> wait;
        do {
            // relaxed: only a hint when to try again.
            while (m_held.load(std::memory_order_relaxed) != 0) wait.step();
        } while (!try_lock());
    }

    atomic<std::uint32_t> m_held{0};
};

using spin_lock = basic_spin_lock<detail::native_machine>;

} // namespace tulle::base

// SPDX-License-Identifier: Apache-2.0
// The part of a spin lock that is inlined: one load and one exchange to lock, one store to unlock.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/machine.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::detail {

template <class Machine> struct basic_spin_front {
    template <class T> using atomic = typename Machine::template atomic<T>;

    atomic<std::uint32_t> held{0};
    atomic<std::uint32_t> starving{0}; // threads that have waited for long: others stand back

    // relaxed: a hint; a newcomer that misses it overtakes once.
    [[nodiscard]] TULLE_INLINE bool try_lock() noexcept {
        return starving.load(std::memory_order_relaxed) == 0 && take();
    }
    // Pairs with unlock.
    [[nodiscard]] TULLE_INLINE bool take() noexcept {
        return held.exchange(1, std::memory_order_acquire) == 0;
    }
    // Pairs with take.
    TULLE_INLINE void unlock() noexcept { held.store(0, std::memory_order_release); }
};

using spin_front = basic_spin_front<native_machine>;

} // namespace tulle::detail

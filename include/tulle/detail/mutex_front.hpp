// SPDX-License-Identifier: Apache-2.0
// The part of a mutex that lock and unlock touch when nobody waits: one exchange to lock, one plain
// store and plain loads to unlock.
//   unlock  A1 store free = 1; compiler barrier; A2 load contended
//   waiter  B1 store contended = 1; heavy fence; B2 exchange free
// Either the unlocker sees `contended` at A2 and checks for waiters, or the waiter takes the lock
// at B2. As long as `contended` is set, unlock goes through the queue's lock. The waiter's side:
// src/sync/mutex_core.hpp.
// A new mutex is all zero: it looks held, and the first to lock it inherits it in the cold path. A
// deterministic run keeps it so, which brings every lock to the cold path.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/machine.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::detail {

enum class unlock_result { done, held_contended, released_contended };

template <class Machine> struct basic_mutex_front {
    template <class T> using atomic = typename Machine::template atomic<T>;

    atomic<std::uint32_t> free{0};
    // Threads wait, or did a short while ago; written under the queue's lock.
    atomic<std::uint32_t> contended{0};

    // acquire pairs with the releases of `free` in try_unlock and mutex_core.
    [[nodiscard]] TULLE_INLINE bool try_lock() noexcept {
        return free.exchange(0, std::memory_order_acquire) != 0;
    }
    // For threads that spin: does not take the cache line away from the holder in vain. relaxed:
    // only a hint.
    [[nodiscard]] TULLE_INLINE bool try_lock_if_free() noexcept {
        return free.load(std::memory_order_relaxed) != 0 && try_lock();
    }

    // held_contended: nothing was done, the caller still holds it. released_contended: unlocked,
    // but a waiter may have missed it.
    [[nodiscard]] TULLE_INLINE unlock_result try_unlock() noexcept {
        // relaxed: written by others under the queue's lock, which the cold path takes.
        if (TULLE_UNLIKELY(contended.load(std::memory_order_relaxed) != 0))
            return unlock_result::held_contended;
        free.store(1, std::memory_order_release); // A1; pairs with the acquire in try_lock
        Machine::compiler_barrier();
        // A2; relaxed: ordered by the waiter's heavy fence.
        if (TULLE_UNLIKELY(contended.load(std::memory_order_relaxed) != 0))
            return unlock_result::released_contended;
        return unlock_result::done;
    }
};

using mutex_front = basic_mutex_front<native_machine>;

} // namespace tulle::detail

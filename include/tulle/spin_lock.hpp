// SPDX-License-Identifier: Apache-2.0
// A lock for sections of a few instructions. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/spin_front.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/wait_limit.hpp>

namespace tulle {

// Meets the requirements of std::unique_lock (TimedLockable). 8 bytes, and as cheap as a mutex that
// nobody waits for; but a thread that waits uses processor time, and is in no report of waiting
// threads. Safe for lightweight threads: one that waits lets other threads of its worker run, so
// that the holder may be one of them, and may even wait with the lock held, though a mutex is
// better then. Constant initialised.
// Fairness: newcomers may overtake, but stand back when somebody has waited for a millisecond.
// Memory ordering: what happens before unlock() happens before the return of the lock() that
// follows it.
// Destruction: by the holder's successor as well: unlock() does nothing to it once it is free.
class spin_lock {
public:
    constexpr spin_lock() noexcept = default;
    spin_lock(spin_lock const&) = delete;
    spin_lock& operator=(spin_lock const&) = delete;

    // Tries until nobody else holds it; between tries other threads of the worker run.
    TULLE_INLINE void lock() noexcept {
        schedule_point();
        if (TULLE_UNLIKELY(!m_front.try_lock()))
            static_cast<void>(lock_cold(detail::k_no_deadline));
    }
    // False at once if it is held.
    [[nodiscard]] TULLE_INLINE bool try_lock() noexcept {
        schedule_point();
        // relaxed: a hint
        return m_front.held.load(std::memory_order_relaxed) == 0 && m_front.try_lock();
    }
    // False if the limit is reached, as below.
    [[nodiscard]] bool lock(wait_limit const& limit) noexcept {
        return try_lock() || lock_cold(limit.get());
    }
    // False if the time is up. A time-out in the past behaves as try_lock().
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return try_lock() || lock_cold(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return try_lock() || lock_cold(detail::deadline_at(deadline));
    }
    // By the thread that holds it.
    TULLE_INLINE void unlock() noexcept { m_front.unlock(); }

private:
    TULLE_API TULLE_COLD bool lock_cold(detail::limit until) noexcept;

    detail::spin_front m_front;
};

} // namespace tulle

// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion between threads of any kind: Tulle's, and the process's other OS threads. A
// thread that waits does not block its worker.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/current.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/mutex_front.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <atomic>
#include <cstdint>

namespace tulle {

namespace detail {
struct mutex_owner;
struct mutex_at_home;
} // namespace detail

// Meets the requirements of std::lock_guard, std::unique_lock, std::scoped_lock (TimedLockable).
// Not recursive. Constant initialised.
// A thread may wait, yield and move to another worker while it holds a mutex.
// Fairness: newcomers may overtake, but a waiter that has waited for about a millisecond is given
// the mutex by the next unlock.
// Memory ordering: what happens before unlock() happens before the return of the lock() that
// follows it.
// Destruction: no unlock() may be in progress. To free a mutex after "lock, read, unlock", as a
// reference count does, is wrong: the unlock of the thread before still reads it. Join that
// thread first, or keep the count in an atomic.
// Code compiled without NDEBUG aborts with a message when a thread locks a mutex that it holds or
// unlocks one that it does not hold; all code that shares a mutex must agree on NDEBUG.
class mutex {
public:
    constexpr mutex() noexcept = default;
    mutex(mutex const&) = delete;
    mutex& operator=(mutex const&) = delete;

    // Waits until nobody else holds it.
    TULLE_INLINE void lock() noexcept {
        check_not_owner();
        if (TULLE_UNLIKELY(!m_front.try_lock()))
            static_cast<void>(lock_cold(detail::k_no_deadline));
        set_owner();
    }
    // False at once if another thread holds it.
    [[nodiscard]] TULLE_INLINE bool try_lock() noexcept {
        bool const locked = TULLE_LIKELY(m_front.try_lock_if_free()) || try_lock_cold();
        if (locked) set_owner();
        return locked;
    }
    // False if the limit is reached, as below.
    [[nodiscard]] bool lock(wait_limit const& limit) noexcept {
        return try_lock() || lock_before(limit.get());
    }
    // False if the time is up. A time-out in the past behaves as try_lock().
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return try_lock() || lock_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return try_lock() || lock_before(detail::deadline_at(deadline));
    }
    // By the thread that holds it.
    TULLE_INLINE void unlock() noexcept {
        clear_owner();
        release();
    }

private:
    friend class condition_variable;
    friend class condition_variable_any;
    friend class recursive_mutex;
    friend struct detail::mutex_owner;   // the library's reports
    friend struct detail::mutex_at_home; // <tulle/at_home.hpp>

    TULLE_INLINE void release() noexcept {
        detail::unlock_result const how_far = m_front.try_unlock();
        if (TULLE_UNLIKELY(how_far != detail::unlock_result::done)) unlock_cold(how_far);
    }
    [[nodiscard]] bool lock_before(detail::limit until) noexcept {
        check_not_owner();
        bool const locked = lock_until_cold(until);
        if (locked) set_owner();
        return locked;
    }

    // The library's part. The deadline in ns of the monotonic clock.
    TULLE_API TULLE_COLD bool lock_cold(std::uint64_t deadline) noexcept;
    TULLE_API TULLE_COLD bool lock_until_cold(detail::limit until) noexcept;
    TULLE_API TULLE_COLD bool try_lock_cold() noexcept;
    TULLE_API TULLE_COLD void unlock_cold(detail::unlock_result how_far) noexcept;
    TULLE_API TULLE_NOINLINE void check_not_owner_outlined() const noexcept;
    TULLE_API TULLE_NOINLINE void set_owner_outlined() noexcept;
    TULLE_API TULLE_NOINLINE void clear_owner_outlined() noexcept;

#ifdef NDEBUG
    void check_not_owner() const noexcept {}
    // For reports alone: the stack that the holder stands on, which its next holder writes over.
    // relaxed: a report sees the holder wait.
    TULLE_INLINE void set_owner() noexcept {
        m_owner.store(~reinterpret_cast<std::uintptr_t>(detail::current_fiber()),
                      std::memory_order_relaxed);
    }
    void clear_owner() noexcept {}
#else
    void check_not_owner() const noexcept { check_not_owner_outlined(); }
    void set_owner() noexcept { set_owner_outlined(); }
    void clear_owner() noexcept { clear_owner_outlined(); }
#endif

    detail::mutex_front m_front;
    detail::opaque<48> m_queue;
    // The number of the thread that holds it: of a recursive_mutex, and without NDEBUG. With
    // NDEBUG, the complement of an address (set_owner), which is no number of a thread.
    std::atomic<std::uint64_t> m_owner{0};
};

} // namespace tulle

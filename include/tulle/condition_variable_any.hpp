// SPDX-License-Identifier: Apache-2.0
// Waiting for a condition that a lock of any kind protects. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/mutex.hpp>
#include <tulle/wait_limit.hpp>

#include <concepts>
#include <condition_variable>

namespace tulle {

// As std::condition_variable_any: `lock` has lock() and unlock(), which may wait: std::shared_lock,
// recursive_mutex, spin_lock, ... It is held by the caller of a wait, and again when it returns.
// With tulle::mutex, condition_variable is cheaper. Notified first come, first served.
// Destruction: allowed when all waiters have been notified, even if they have not returned yet;
// none may time out meanwhile.
class condition_variable_any {
public:
    constexpr condition_variable_any() noexcept = default;
    condition_variable_any(condition_variable_any const&) = delete;
    condition_variable_any& operator=(condition_variable_any const&) = delete;

    // Wakes the thread that has waited longest, if any waits.
    TULLE_API void notify_one() noexcept;
    // Wakes all that wait.
    TULLE_API void notify_all() noexcept;

    // Unlocks, waits for a notification, and locks again; with a predicate until that holds.
    template <class Lock> void wait(Lock& lock) {
        static_cast<void>(wait_before(lock, detail::k_no_deadline));
    }
    template <class Lock, class Predicate>
    requires std::predicate<Predicate&>
    void wait(Lock& lock, Predicate is_true) {
        while (!is_true()) wait(lock);
    }
    // False: the limit was reached.
    template <class Lock> [[nodiscard]] bool wait(Lock& lock, wait_limit const& limit) {
        return wait_before(lock, limit.get());
    }
    // What the predicate says in the end: false when the limit was reached first.
    template <class Lock, class Predicate>
    [[nodiscard]] bool wait(Lock& lock, wait_limit const& limit, Predicate is_true) {
        return wait_before(lock, limit.get(), is_true);
    }
    template <class Lock, class Rep, class Period>
    std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& timeout) {
        return as_status(wait_before(lock, detail::deadline_after(timeout)));
    }
    template <class Lock, class Clock, class Duration>
    std::cv_status wait_until(Lock& lock,
                              std::chrono::time_point<Clock, Duration> const& deadline) {
        return as_status(wait_before(lock, detail::deadline_at(deadline)));
    }
    template <class Lock, class Rep, class Period, class Predicate>
    bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& timeout,
                  Predicate is_true) {
        return wait_before(lock, detail::deadline_after(timeout), is_true);
    }
    template <class Lock, class Clock, class Duration, class Predicate>
    bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> const& deadline,
                    Predicate is_true) {
        return wait_before(lock, detail::deadline_at(deadline), is_true);
    }

private:
    [[nodiscard]] static std::cv_status as_status(bool notified) noexcept {
        return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
    }
    // The gate keeps notifiers out until the caller waits; it is not touched after a notification.
    template <class Lock> [[nodiscard]] bool wait_before(Lock& lock, detail::limit until) {
        m_gate.lock();
        TULLE_TRY { lock.unlock(); }
        TULLE_CATCH(...) {
            m_gate.unlock();
            TULLE_RETHROW;
        }
        bool const notified = wait_and_open(until);
        lock.lock();
        return notified;
    }
    template <class Lock, class Predicate>
    [[nodiscard]] bool wait_before(Lock& lock, detail::limit until, Predicate& is_true) {
        while (!is_true()) {
            if (!wait_before(lock, until)) return is_true();
        }
        return true;
    }
    [[nodiscard]] TULLE_API bool wait_and_open(detail::limit until) noexcept;

    mutex m_gate;
    detail::opaque<32> m_core;
};

} // namespace tulle

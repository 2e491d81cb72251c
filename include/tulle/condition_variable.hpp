// SPDX-License-Identifier: Apache-2.0
// Waiting for a condition that a mutex protects. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/mutex.hpp>

#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tulle {

// As std::condition_variable, with tulle::mutex. Waiters are notified first come, first served. A
// wait returns only when notified or when the time is up, but another thread may have changed the
// condition by then: use the forms with a predicate.
// The mutex must be held by the caller of a wait, and is held again when it returns.
// Destruction: allowed when all waiters have been notified, even if they have not returned yet;
// none may time out meanwhile.
class condition_variable {
public:
    constexpr condition_variable() noexcept = default;
    condition_variable(condition_variable const&) = delete;
    condition_variable& operator=(condition_variable const&) = delete;

    // Wakes the thread that has waited longest, if any waits.
    TULLE_API void notify_one() noexcept;
    // Wakes all that wait.
    TULLE_API void notify_all() noexcept;

    // Lets go of the mutex, waits for a notification, and locks the mutex again; with a predicate
    // until that holds.
    void wait(std::unique_lock<mutex>& held) {
        mutex& m = *held.mutex();
        m.clear_owner();
        static_cast<void>(wait_cold(m, detail::k_no_deadline));
        m.set_owner();
    }
    template <class Predicate>
    requires std::predicate<Predicate&>
    void wait(std::unique_lock<mutex>& held, Predicate is_true) {
        while (!is_true()) wait(held);
    }

    // False: the limit was reached.
    [[nodiscard]] bool wait(std::unique_lock<mutex>& held, wait_limit const& limit) {
        return wait_before(held, limit.get()) == std::cv_status::no_timeout;
    }
    // What the predicate says in the end.
    template <class Predicate>
    [[nodiscard]] bool wait(std::unique_lock<mutex>& held, wait_limit const& limit,
                            Predicate is_true) {
        return wait_before(held, limit.get(), is_true);
    }

    // std::cv_status::timeout: the time was up. With a predicate: what it says in the end.
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex>& held,
                            std::chrono::duration<Rep, Period> const& timeout) {
        return wait_before(held, detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& held,
                              std::chrono::time_point<Clock, Duration> const& deadline) {
        return wait_before(held, detail::deadline_at(deadline));
    }
    // What the predicate says in the end.
    template <class Rep, class Period, class Predicate>
    bool wait_for(std::unique_lock<mutex>& held, std::chrono::duration<Rep, Period> const& timeout,
                  Predicate is_true) {
        return wait_before(held, detail::deadline_after(timeout), is_true);
    }
    template <class Clock, class Duration, class Predicate>
    bool wait_until(std::unique_lock<mutex>& held,
                    std::chrono::time_point<Clock, Duration> const& deadline, Predicate is_true) {
        return wait_before(held, detail::deadline_at(deadline), is_true);
    }

private:
    std::cv_status wait_before(std::unique_lock<mutex>& held, detail::limit until) {
        mutex& m = *held.mutex();
        m.clear_owner();
        bool const notified = wait_until_cold(m, until);
        m.set_owner();
        return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
    }
    template <class Predicate>
    bool wait_before(std::unique_lock<mutex>& held, detail::limit until, Predicate& is_true) {
        while (!is_true()) {
            if (wait_before(held, until) == std::cv_status::timeout) return is_true();
        }
        return true;
    }
    TULLE_API bool wait_cold(mutex& m, std::uint64_t deadline) noexcept;
    TULLE_API bool wait_until_cold(mutex& m, detail::limit until) noexcept;

    detail::opaque<32> m_core;
};

} // namespace tulle

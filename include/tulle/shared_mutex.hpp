// SPDX-License-Identifier: Apache-2.0
// Held by one writer or by any number of readers. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

namespace tulle {

// Meets the requirements of std::unique_lock and std::shared_lock (SharedTimedLockable). Not
// recursive, for readers neither: a reader that locks again waits behind a writer that waits for
// it. Constant initialised. May be held over a wait.
// Fairness: while somebody waits nobody overtakes. When a writer lets go, all readers that wait get
// it; when the last of these lets go, the next writer.
// Memory ordering: what happens before an unlock happens before the return of the locks that follow
// it.
// Destruction: no call may be in progress.
class shared_mutex {
public:
    constexpr shared_mutex() noexcept = default;
    shared_mutex(shared_mutex const&) = delete;
    shared_mutex& operator=(shared_mutex const&) = delete;

    // For a writer: waits until nobody holds it.
    TULLE_API void lock() noexcept;
    // False at once if it is held.
    [[nodiscard]] TULLE_API bool try_lock() noexcept;
    // False if the limit is reached, as below.
    [[nodiscard]] bool lock(wait_limit const& limit) noexcept { return lock_before(limit.get()); }
    // False if the time is up. A time-out in the past behaves as try_lock().
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return lock_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return lock_before(detail::deadline_at(deadline));
    }
    // By the writer.
    TULLE_API void unlock() noexcept;

    // For a reader: waits until no writer holds it or has waited for longer.
    TULLE_API void lock_shared() noexcept;
    // False at once if a writer holds it or waits for it.
    [[nodiscard]] TULLE_API bool try_lock_shared() noexcept;
    // The forms of lock_shared() with a limit: false if that is reached.
    [[nodiscard]] bool lock_shared(wait_limit const& limit) noexcept {
        return lock_shared_before(limit.get());
    }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> const& timeout) {
        return lock_shared_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    try_lock_shared_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return lock_shared_before(detail::deadline_at(deadline));
    }
    // By a reader.
    TULLE_API void unlock_shared() noexcept;

private:
    [[nodiscard]] TULLE_API bool lock_before(detail::limit until) noexcept;
    [[nodiscard]] TULLE_API bool lock_shared_before(detail::limit until) noexcept;

    detail::opaque<64> m_core;
};

} // namespace tulle

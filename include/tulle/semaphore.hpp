// SPDX-License-Identifier: Apache-2.0
// A number of units to be taken and given back, the shape of std::counting_semaphore. Contexts: any
// thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <cstddef>
#include <cstdint>

namespace tulle {

namespace detail {

class semaphore {
public:
    // Errors: std::invalid_argument: negative.
    TULLE_API explicit semaphore(std::ptrdiff_t units);
    semaphore(semaphore const&) = delete;
    semaphore& operator=(semaphore const&) = delete;

    // Takes a unit; waits until there is one.
    TULLE_API void acquire() noexcept;
    // False at once if there is none.
    [[nodiscard]] TULLE_API bool try_acquire() noexcept;
    // False: the limit was reached, as below.
    [[nodiscard]] bool acquire(wait_limit const& limit) noexcept {
        return acquire_before(limit.get());
    }
    // False: there was none before the time was up. A time-out in the past behaves as
    // try_acquire().
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(std::chrono::duration<Rep, Period> const& timeout) {
        return acquire_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return acquire_before(detail::deadline_at(deadline));
    }
    // Ends the program with a message if there would be more than 2^62, or `units` is negative.
    TULLE_API void release(std::ptrdiff_t units = 1) noexcept;
    // Units that nobody has taken: a snapshot.
    [[nodiscard]] TULLE_API std::ptrdiff_t count() const noexcept;

private:
    [[nodiscard]] TULLE_API bool acquire_before(detail::limit until) noexcept;

    detail::opaque<40> m_core;
};

} // namespace detail

// Fairness: first come, first served. A unit that is released goes to the one that has waited
// longest; newcomers do not overtake.
// Memory ordering: what happens before a release() happens before the return of each acquire() that
// gets one of its units.
// Destruction: no call may be in progress.
template <std::ptrdiff_t LeastMax = std::ptrdiff_t{1} << 62>
class counting_semaphore : public detail::semaphore {
public:
    static_assert(LeastMax >= 0 && LeastMax <= std::ptrdiff_t{1} << 62);
    using detail::semaphore::semaphore;
    // The largest number of units.
    [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return std::ptrdiff_t{1} << 62; }
};

// One that is mostly 0 or 1; nothing enforces that.
using binary_semaphore = counting_semaphore<1>;

} // namespace tulle

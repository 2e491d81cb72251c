// SPDX-License-Identifier: Apache-2.0
// A count that goes down to zero once; any number of threads wait for it, a million as well as one.
// Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <cstdint>

namespace tulle {

// Memory ordering: what happens before a count_down() happens before the return of every wait.
// Destruction: allowed as soon as the caller knows, by a wait or a try, that the count is zero; no
// other thread may time out, or begin to wait, meanwhile.
class latch {
public:
    // Errors: std::invalid_argument: negative.
    TULLE_API explicit latch(std::int64_t count);
    latch(latch const&) = delete;
    latch& operator=(latch const&) = delete;

    // Ends the program with a message if less than `by` is left, or `by` is negative.
    TULLE_API void count_down(std::int64_t by = 1) noexcept;
    // Whether the count is zero.
    [[nodiscard]] TULLE_API bool try_wait() const noexcept;
    // Waits until the count is zero.
    TULLE_API void wait() noexcept;
    // count_down(by), then wait().
    TULLE_API void arrive_and_wait(std::int64_t by = 1) noexcept;
    // False: not zero when the limit was reached, as below.
    [[nodiscard]] bool wait(wait_limit const& limit) noexcept { return wait_before(limit.get()); }
    // False: not zero when the time was up. A time-out in the past behaves as try_wait().
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& timeout) {
        return wait_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return wait_before(detail::deadline_at(deadline));
    }

private:
    [[nodiscard]] TULLE_API bool wait_before(detail::limit until) noexcept;

    detail::opaque<40> m_core;
};

} // namespace tulle

// SPDX-License-Identifier: Apache-2.0
// The cheapest way to wait for a number of events: no queue, one word, one waiter. Contexts: any
// thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <cstdint>

namespace tulle {

// Counts notifications that are still to come. One thread at a time waits until there are none.
// Memory ordering: what happens before each notify() happens before the return of the wait.
// Destruction: allowed as soon as a wait or a try has said that the count is zero.
// Source: the signals of OctoPOS (invasive computing), where a child notifies its parent this way.
class signal {
public:
    // Errors: std::invalid_argument: more than 2^31 - 1.
    TULLE_API explicit signal(std::uint32_t count = 0);
    signal(signal const&) = delete;
    signal& operator=(signal const&) = delete;

    // One event. Ends the program with a message when the count is zero already.
    TULLE_API void notify() noexcept;
    // So many more notifications will come. By a thread that knows that the count is not zero, or
    // that nobody waits yet.
    TULLE_API void add_signalers(std::uint32_t more) noexcept;

    // Whether the count is zero.
    [[nodiscard]] TULLE_API bool try_wait() const noexcept;
    // Ends the program with a message when another thread waits already; so do the timed forms.
    TULLE_API void wait() noexcept;
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

    detail::opaque<16> m_core;
};

} // namespace tulle

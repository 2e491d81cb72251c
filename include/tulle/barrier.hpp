// SPDX-License-Identifier: Apache-2.0
// A meeting of n threads that none leaves before all have come; again and again. Contexts: any
// thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/opaque.hpp>
#include <tulle/wait_limit.hpp>

#include <cstdint>

namespace tulle {

// Memory ordering: what happens before each arrival of a phase happens before every return from
// that phase.
// Destruction: allowed as soon as one thread has returned from the last phase; none may time out
// meanwhile.
class barrier {
public:
    // Errors: std::invalid_argument: less than 1.
    TULLE_API explicit barrier(std::int64_t participants);
    barrier(barrier const&) = delete;
    barrier& operator=(barrier const&) = delete;

    // True for one thread of each phase, the one that came last.
    TULLE_API bool arrive_and_wait() noexcept;
    // Arrives only if all others have: then true, and they go on.
    [[nodiscard]] TULLE_API bool try_arrive_and_wait() noexcept;
    // False: the limit was reached, and the caller does not count as arrived, as below.
    [[nodiscard]] bool arrive_and_wait(wait_limit const& limit) noexcept {
        return arrive_and_wait_before(limit.get());
    }
    // False: the time was up, and the caller does not count as arrived. A time-out in the past
    // behaves as try_arrive_and_wait().
    template <class Rep, class Period>
    [[nodiscard]] bool arrive_and_wait_for(std::chrono::duration<Rep, Period> const& timeout) {
        return arrive_and_wait_before(detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool
    arrive_and_wait_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return arrive_and_wait_before(detail::deadline_at(deadline));
    }

private:
    [[nodiscard]] TULLE_API bool arrive_and_wait_before(detail::limit until) noexcept;

    detail::opaque<48> m_core;
};

} // namespace tulle

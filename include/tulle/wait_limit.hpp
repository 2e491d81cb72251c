// SPDX-License-Identifier: Apache-2.0
// How long a wait may last. Every wait of the library that can end without what it waits for takes
// one.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/detail/limit.hpp>

namespace tulle {

class cancellation_token;

// Until the token is cancelled, a duration is over or a point in time has come, or the first of two
// of these. A limit that has been reached makes a try of a wait. It must not outlive its token.
class wait_limit {
public:
    // Defined in <tulle/cancellation.hpp>.
    wait_limit(cancellation_token const&
                   token) noexcept; // NOLINT(google-explicit-constructor): latch.wait(token)
    template <class Rep, class Period>
    wait_limit(cancellation_token const& token, std::chrono::duration<Rep, Period> const& timeout);
    template <class Clock, class Duration>
    wait_limit(cancellation_token const& token,
               std::chrono::time_point<Clock, Duration> const& deadline);
    template <class Rep, class Period>
    explicit wait_limit(std::chrono::duration<Rep, Period> const& timeout)
        : m_limit(detail::deadline_after(timeout)) {}
    template <class Clock, class Duration>
    explicit wait_limit(std::chrono::time_point<Clock, Duration> const& deadline)
        : m_limit(detail::deadline_at(deadline)) {}

    // What get() has said.
    [[nodiscard]] static wait_limit of(detail::limit const& l) noexcept { return wait_limit(l); }
    // For what waits: a deadline, a token, or both.
    [[nodiscard]] detail::limit get() const noexcept { return m_limit; }

private:
    explicit wait_limit(detail::limit const& l) noexcept : m_limit(l) {}

    detail::limit m_limit;
};

} // namespace tulle

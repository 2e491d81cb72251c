// SPDX-License-Identifier: Apache-2.0
// Deadlines from durations and from time points of any clock; what lies beyond the range of the steady clock is its end.
#pragma once

#include <chrono>

namespace tulle::detail {

using time_point = std::chrono::steady_clock::time_point;

// Rounded up, so that nothing ends early.
template <class Rep, class Period> [[nodiscard]] time_point deadline_after(std::chrono::duration<Rep, Period> time) {
    using seconds = std::chrono::duration<double>;
    auto const now = std::chrono::steady_clock::now();
    if (time <= std::chrono::duration<Rep, Period>::zero()) return now;
    constexpr double k_margin = 1.0; // of rounding, in seconds
    if (seconds(time).count() >= seconds(time_point::max() - now).count() - k_margin) return time_point::max();
    return now + std::chrono::ceil<time_point::duration>(time);
}

template <class Clock, class Duration>
[[nodiscard]] time_point deadline_of(std::chrono::time_point<Clock, Duration> deadline) {
    using wide = std::chrono::duration<double>;
    auto const now = Clock::now();
    if (deadline <= now) return std::chrono::steady_clock::now();
    if (deadline.time_since_epoch() > Duration::zero() && now.time_since_epoch() < Clock::duration::zero())
        return deadline_after(wide(deadline.time_since_epoch()) -
                              wide(now.time_since_epoch())); // the difference may not fit
    return deadline_after(deadline - now);
}

} // namespace tulle::detail

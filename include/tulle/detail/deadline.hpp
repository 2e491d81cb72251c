// SPDX-License-Identifier: Apache-2.0
// Time-outs and points in time as the library takes them: nanoseconds of the monotonic clock, which
// is std::chrono::steady_clock.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/detail/visibility.h>

#include <cstdint>

namespace tulle::detail {

inline constexpr std::uint64_t k_no_deadline = ~std::uint64_t{0};

// The time; in a deterministic run, a virtual one.
[[nodiscard]] TULLE_API std::uint64_t now_ns() noexcept;

inline constexpr std::uint64_t k_longest_ns = 9'000'000'000'000'000'000U; // 285 years
// 0 of less than that; k_no_deadline of the longest or more.
template <class Rep, class Period>
[[nodiscard]] std::uint64_t length_in_ns(std::chrono::duration<Rep, Period> const& time) {
    if (!(time > time.zero())) return 0;
    if (std::chrono::duration<double, std::nano>(time).count() >= static_cast<double>(k_longest_ns))
        return k_no_deadline;
    return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(time).count());
}
// A time-out of zero or less has passed already; one beyond the clock's range never passes.
template <class Rep, class Period>
[[nodiscard]] std::uint64_t deadline_after(std::chrono::duration<Rep, Period> const& timeout) {
    std::uint64_t const ns = length_in_ns(timeout);
    return ns == 0 || ns == k_no_deadline ? ns : now_ns() + ns;
}
template <class Clock, class Duration>
[[nodiscard]] std::uint64_t deadline_at(std::chrono::time_point<Clock, Duration> const& point) {
    using wide = std::chrono::duration<double, std::nano>;
    if (point == std::chrono::time_point<Clock, Duration>::max()) return k_no_deadline;
    auto const now = Clock::now();
    constexpr wide longest(static_cast<double>(k_longest_ns));
    wide const at = point.time_since_epoch();
    wide const left = at - wide(now.time_since_epoch());
    // Neither the point nor the difference need fit into the clock's unit.
    if (at > longest || at < -longest || left > longest) return deadline_after(left);
    if (point <= now) return 0;
    return deadline_after(point - now);
}

} // namespace tulle::detail

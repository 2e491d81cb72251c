// SPDX-License-Identifier: Apache-2.0
// Deadlines as nanoseconds of the monotonic clock, and the wait that only ends by one.
#pragma once

#include "sched/timer_queue.hpp"

#include <chrono>
#include <cstdint>

namespace tulle::sched {

// steady_clock counts the same nanoseconds as os::monotonic_ns. A time before the epoch is 0, one beyond the range is k_never.
[[nodiscard]] inline std::uint64_t to_ns(std::chrono::steady_clock::time_point t) noexcept {
    auto const ticks = std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
    return ticks < 0 ? 0 : static_cast<std::uint64_t>(ticks);
}

// The worker runs other threads meanwhile; a guest's OS thread sleeps. A deadline in the past yields.
void sleep_until_ns(std::uint64_t deadline) noexcept;

} // namespace tulle::sched

// SPDX-License-Identifier: Apache-2.0
// The one clock of the library: CLOCK_MONOTONIC in nanoseconds, the clock of
// std::chrono::steady_clock here. And how long the process has computed.
#pragma once

#include <cstdint>

namespace tulle::os {

// A deadline that never comes.
inline constexpr std::uint64_t k_no_deadline = UINT64_MAX;

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;
// The same clock as of the system's last tick, some milliseconds ago at most: told sooner.
[[nodiscard]] std::uint64_t last_tick_ns() noexcept;

// Processor time of all OS threads of the process so far.
[[nodiscard]] std::uint64_t process_time_ns() noexcept;

// Processor time of one OS thread of this process so far, as in /proc/self/task; 0: the system
// does not say, or it is gone.
[[nodiscard]] std::uint64_t thread_time_ns(int tid) noexcept;

} // namespace tulle::os

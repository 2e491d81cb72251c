// SPDX-License-Identifier: Apache-2.0
// Deadlines as nanoseconds of the monotonic clock, and the wait that only ends by one.
#pragma once

#include "wait/timer_queue.hpp"

#include <cstdint>

namespace tulle::sched {

// The worker runs other threads meanwhile; a guest's OS thread sleeps. A deadline in the past
// yields.
void sleep_until_ns(std::uint64_t deadline) noexcept;

} // namespace tulle::sched

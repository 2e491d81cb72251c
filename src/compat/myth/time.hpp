// SPDX-License-Identifier: Apache-2.0
// Points in time as this interface gives them, of CLOCK_REALTIME.
#pragma once

#include <cstdint>

#include <time.h>

namespace tulle::myth {

// In ns of the monotonic clock; 0: it has passed. EINVAL: null, or no point in time.
[[nodiscard]] int deadline_of(timespec const* at, std::uint64_t& deadline) noexcept;
// In ns from now; 0: it has passed.
[[nodiscard]] int timeout_of(timespec const* at, std::uint64_t& timeout) noexcept;
// A duration in ns. EINVAL: as above, or negative.
[[nodiscard]] int duration_of(timespec const* duration, std::uint64_t& ns) noexcept;

} // namespace tulle::myth

// SPDX-License-Identifier: Apache-2.0
//
// The one clock of the library: CLOCK_MONOTONIC in nanoseconds, the clock of std::chrono::steady_clock here.
#pragma once

#include <cstdint>

namespace tulle::os {

/// A deadline that never comes.
inline constexpr std::uint64_t k_no_deadline = UINT64_MAX;

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

} // namespace tulle::os

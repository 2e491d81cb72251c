// SPDX-License-Identifier: Apache-2.0
// For whoever waits for threads that it does not join: whether workers get on.
#pragma once

#include <tulle/detail/visibility.h>

#include <cstdint>

namespace tulle::detail {

// A number that changes whenever that worker comes back to the scheduler; below 0: it looks for
// work, sleeps, or there is none of that index. A snapshot; any OS thread.
[[nodiscard]] TULLE_API std::int64_t decisions_of_worker(int index) noexcept;

} // namespace tulle::detail

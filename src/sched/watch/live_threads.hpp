// SPDX-License-Identifier: Apache-2.0
// Which threads are alive, in words. While the scheduler runs; by whoever keeps it from being
// stopped.
#pragma once

#include "sched/scheduler.hpp"

#include <string>

namespace tulle::sched {

// The threads go on meanwhile: one may be missing, or be seen as it was a moment ago.
[[nodiscard]] std::string describe_live_threads(scheduler& s);

} // namespace tulle::sched

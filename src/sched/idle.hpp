// SPDX-License-Identifier: Apache-2.0
// A worker without work searches for a while and then sleeps. park/idle_set.hpp and
// src/park/README.md say which thread wakes it, and why no wake-up is lost.
#pragma once

#include "sched/find_work.hpp"

namespace tulle::sched {

// A worker calls this that has found nothing in its own queues. It returns with work, or with the
// order to stop.
[[nodiscard]] work wait_for_work(worker& w) noexcept;

} // namespace tulle::sched

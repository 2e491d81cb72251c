// SPDX-License-Identifier: Apache-2.0
// A worker without work searches for a while and then sleeps. Who wakes it, and why no wake-up is
// lost:
// park/idle_set.hpp and src/park/README.md.
#pragma once

#include "sched/find_work.hpp"

namespace tulle::sched {

// By a worker that has found nothing in its own queues. Returns with work, or with the order to
// stop.
[[nodiscard]] work wait_for_work(worker& w) noexcept;

} // namespace tulle::sched

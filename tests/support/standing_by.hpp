// SPDX-License-Identifier: Apache-2.0
// A worker that was disabled a moment ago may be in the middle of its search for work, until it
// stands by.
#pragma once

#include "sched/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

// By a thread that is not to run on those workers.
inline void wait_until_workers_stand_by(int count) {
    auto const& workers = tulle::sched::scheduler::instance().workers();
    // acquire pairs with stand_by.
    auto const stands_by = [](auto const& w) {
        return w->stands_by.load(std::memory_order_acquire);
    };
    while (std::count_if(workers.begin(), workers.end(), stands_by) != count)
        std::this_thread::yield();
}

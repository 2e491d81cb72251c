// SPDX-License-Identifier: Apache-2.0
#include "sched/scheduler.hpp"

#include <tulle/runtime.hpp>
#include <tulle/thread.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace {

using namespace std::chrono_literals;

// The thread ends, and resumes its joiner, while the joiner's worker is still about to start the
// timer.
TEST(timed_join, a_thread_that_ends_at_once_leaves_no_timer_behind) {
    tulle::initialize({.workers = 4});
    std::vector<tulle::thread<void>> joiners;
    for (int i = 0; i < 8; ++i) {
        joiners.push_back(tulle::spawn([] {
            for (int k = 0; k < 5000; ++k) {
                auto brief = tulle::spawn(tulle::attributes{.stack_size = 32768}, [] {});
                while (!brief.join_for(1h)) {}
                brief.join();
            }
        }));
    }
    for (auto& j : joiners) j.join();
    EXPECT_EQ(tulle::sched::scheduler::instance().timers().next_deadline(), tulle::wait::k_never);
    tulle::finalize();
}

} // namespace

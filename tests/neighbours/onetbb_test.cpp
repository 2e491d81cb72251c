// SPDX-License-Identifier: Apache-2.0
//
// oneTBB in the same process: loops in Tulle's threads, and Tulle used by tasks that a foreign OS
// thread has started. (A thread of Tulle must not wait inside a task: it might go on on another OS
// thread.)
#include "neighbours.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_group.h>

#include <functional>

namespace {

using namespace tulle;
using namespace neighbours;

long sum_by_tbb(int from, int to) {
    return oneapi::tbb::parallel_reduce(
        oneapi::tbb::blocked_range<int>(from, to, 64), 0L,
        [](auto const& range, long sum) {
            for (int i = range.begin(); i < range.end(); ++i) sum += value_of(i);
            return sum;
        },
        std::plus<>());
}

class onetbb_test : public over_workers {
protected:
    oneapi::tbb::global_control m_team{oneapi::tbb::global_control::max_allowed_parallelism,
                                       k_team};
};
INSTANTIATE_TEST_SUITE_P(workers, onetbb_test, ::testing::Values(1, 2, 4));

TEST_P(onetbb_test, loops_in_threads) {
    std::vector<thread<long>> threads;
    for (int k = 0; k < k_threads; ++k)
        threads.push_back(spawn([k] {
            this_thread::yield();
            long const sum = sum_by_tbb(k * k_items, (k + 1) * k_items);
            this_thread::sleep_for(std::chrono::microseconds(k)); // may go on on another OS thread
            return sum + sum_by_tbb(k * k_items, (k + 1) * k_items);
        }));
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(threads[static_cast<std::size_t>(k)].join(),
                  2 * serial_sum(k * k_items, (k + 1) * k_items));
}

TEST_P(onetbb_test, loops_in_forked_children) {
    auto left = fork([] { return sum_by_tbb(0, k_items); });
    long const right = sum_by_tbb(k_items, 2 * k_items);
    EXPECT_EQ(left.join() + right, serial_sum(0, 2 * k_items));
}

TEST_P(onetbb_test, tasks_fork_spawn_and_wait) {
    std::vector<long> results(k_threads);
    run_on_foreign_thread([&results] {
        oneapi::tbb::parallel_for(0, k_threads, [&results](int k) {
            results[static_cast<std::size_t>(k)] = use_tulle(k);
        });
    });
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(results[static_cast<std::size_t>(k)], expected_of_tulle(k));
}

TEST_P(onetbb_test, tasks_of_a_group_wait_for_threads_that_run_loops) {
    std::vector<long> results(k_threads);
    run_on_foreign_thread([&results] {
        oneapi::tbb::task_group group;
        for (int k = 0; k < k_threads; ++k)
            group.run([&results, k] {
                results[static_cast<std::size_t>(k)] =
                    spawn([k] { return sum_by_tbb(0, k); }).join();
            });
        group.wait();
    });
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(results[static_cast<std::size_t>(k)], serial_sum(0, k));
}

TEST_P(onetbb_test, idle_workers_use_no_processor_time) {
    if (GetParam() == 1) GTEST_SKIP() << "the only worker is this one";
    EXPECT_EQ(spawn([] { return sum_by_tbb(0, k_items); }).join(), serial_sum(0, k_items));
    EXPECT_LT(idle_share_of_workers(), 0.1);
}

} // namespace

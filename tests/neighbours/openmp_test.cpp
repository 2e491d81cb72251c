// SPDX-License-Identifier: Apache-2.0
//
// OpenMP in the same process: parallel regions in Tulle's threads, and Tulle used by the threads of
// a parallel region that a foreign OS thread has started. (A thread of Tulle must not wait inside a
// region: it might go on on another OS thread, which is of another team.)
#include "neighbours.hpp"

#include <omp.h>

namespace {

using namespace tulle;
using namespace neighbours;

// In a parallel region of its own.
long sum_by_openmp(int from, int to) {
    long sum = 0;
#pragma omp parallel for num_threads(k_team) reduction(+ : sum) schedule(dynamic, 64)
    for (int i = from; i < to; ++i) sum += value_of(i);
    return sum;
}

class openmp_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, openmp_test, ::testing::Values(1, 2, 4));

TEST_P(openmp_test, regions_in_threads) {
    std::vector<thread<long>> threads;
    for (int k = 0; k < k_threads; ++k)
        threads.push_back(spawn([k] {
            this_thread::yield();
            long const sum = sum_by_openmp(k * k_items, (k + 1) * k_items);
            // May go on on another OS thread, with another team.
            this_thread::sleep_for(std::chrono::microseconds(k));
            return sum + sum_by_openmp(k * k_items, (k + 1) * k_items);
        }));
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(threads[static_cast<std::size_t>(k)].join(),
                  2 * serial_sum(k * k_items, (k + 1) * k_items));
}

TEST_P(openmp_test, regions_in_forked_children) {
    auto left = fork([] { return sum_by_openmp(0, k_items); });
    long const right = sum_by_openmp(k_items, 2 * k_items);
    EXPECT_EQ(left.join() + right, serial_sum(0, 2 * k_items));
}

TEST_P(openmp_test, threads_of_a_region_fork_spawn_and_wait) {
    for (int round = 0; round < 20; ++round) {
        tulle::mutex m;
        long sum = 0;
        int team = 0;
        run_on_foreign_thread([&] {
#pragma omp parallel num_threads(k_team)
            {
                long const mine = use_tulle(omp_get_thread_num());
                std::lock_guard const held(m);
                sum += mine;
                ++team;
            }
        });
        long expected = 0;
        for (int k = 0; k < team; ++k) expected += expected_of_tulle(k);
        ASSERT_EQ(sum, expected);
    }
}

TEST_P(openmp_test, tasks_wait_for_threads) {
    std::vector<long> results(k_threads);
    run_on_foreign_thread([&results] {
#pragma omp parallel num_threads(k_team)
#pragma omp single
        for (int k = 0; k < k_threads; ++k) {
#pragma omp task firstprivate(k) shared(results)
            results[static_cast<std::size_t>(k)] =
                spawn([k] { return sum_by_openmp(0, k); }).join();
        }
    });
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(results[static_cast<std::size_t>(k)], serial_sum(0, k));
}

TEST_P(openmp_test, idle_workers_use_no_processor_time) {
    if (GetParam() == 1) GTEST_SKIP() << "the only worker is this one";
    EXPECT_EQ(spawn([] { return sum_by_openmp(0, k_items); }).join(), serial_sum(0, k_items));
    EXPECT_LT(idle_share_of_workers(), 0.1);
}

TEST_P(openmp_test, number_of_workers_changes_meanwhile) {
    std::vector<thread<long>> threads;
    for (int k = 0; k < k_threads; ++k) {
        threads.push_back(spawn([] { return sum_by_openmp(0, k_items); }));
        set_worker_count(1 + k % max_worker_count());
        this_thread::yield();
    }
    for (auto& t : threads) ASSERT_EQ(t.join(), serial_sum(0, k_items));
}

} // namespace

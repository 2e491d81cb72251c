// SPDX-License-Identifier: Apache-2.0
//
// OpenMP and oneTBB together in one process with Tulle, whose workers come and go.
#include "neighbours.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace {

using namespace tulle;
using namespace neighbours;

class both_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, both_test, ::testing::Values(1, 2, 4));

long sum_by_both(int from, int to) {
    std::atomic<long> of_tbb{0};
    long of_openmp = 0;
    int const middle = (from + to) / 2;
    oneapi::tbb::parallel_for(from, middle, [&of_tbb](int i) {
        of_tbb.fetch_add(value_of(i), std::memory_order_relaxed);
    });
#pragma omp parallel for num_threads(k_team) reduction(+ : of_openmp)
    for (int i = middle; i < to; ++i) of_openmp += value_of(i);
    return of_tbb.load() + of_openmp;
}

TEST_P(both_test, each_uses_the_other) {
    std::vector<thread<long>> threads;
    for (int k = 0; k < k_threads; ++k) {
        threads.push_back(spawn([k] {
            this_thread::yield();
            return sum_by_both(k, k + k_items);
        }));
        if (k % 10 == 0) set_worker_count(1 + k / 10 % max_worker_count());
    }
    run_on_foreign_thread([] {
        oneapi::tbb::parallel_for(0, k_threads, [](int k) {
            long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum += use_tulle(k);
            EXPECT_EQ(sum % expected_of_tulle(k), 0); // one or two threads
        });
    });
    for (int k = 0; k < k_threads; ++k)
        ASSERT_EQ(threads[static_cast<std::size_t>(k)].join(), serial_sum(k, k + k_items));
}

} // namespace

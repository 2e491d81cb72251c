// SPDX-License-Identifier: Apache-2.0
//
// Random trees of threads on 1 to 8 workers, with and without heavy fences, on main, on threads and
// on foreign OS threads at the same time. TULLE_STRESS_SECONDS: how long each test goes on;
// TULLE_TEST_SEED repeats a run.
#include "random_tree.hpp"
#include "stress.hpp"
#include "without_membarrier.hpp"

#include <thread>
#include <vector>

namespace {

using namespace tulle;
using std::chrono::steady_clock;

// Main, threads and foreign OS threads, each with a tree of its own.
void one_round(std::uint64_t seed) {
    std::atomic<int> guests_left{2};
    std::vector<std::thread> guests;
    for (int k = 0; k < 2; ++k) {
        guests.emplace_back([&guests_left, s = seed + static_cast<std::uint64_t>(k)] {
            check_tree(s, 5);
            guests_left.fetch_sub(1);
        });
    }
    std::vector<thread<void>> threads;
    for (std::uint64_t k = 2; k < 5; ++k)
        threads.push_back(spawn([s = seed + k] { check_tree(s, 6); }));
    check_tree(seed + 5, 8);
    for (auto& t : threads) t.join();
    while (guests_left.load() != 0) this_thread::yield();
    for (auto& g : guests) g.join();
}

void stress(int workers, char const* shepherds) {
    set_option("shepherds", shepherds);
    std::uint64_t seed = test_seed();
    int rounds = 0;
    for (auto const end = end_of_run(2); steady_clock::now() < end || rounds == 0;
         ++rounds, seed += 6) {
        if (rounds % 10 == 0) initialize({.workers = workers});
        one_round(seed);
        if (rounds % 10 == 9) finalize();
        if (::testing::Test::HasFailure()) return;
    }
    if (is_initialized()) finalize();
    set_option("shepherds", "auto");
}

class sched_stress : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(workers, sched_stress, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(sched_stress, random_trees) { stress(GetParam(), "1"); }

TEST_P(sched_stress, random_trees_on_two_shepherds) { stress(GetParam(), "2"); }

void stress_without_membarrier(int workers) {
    forbid_membarrier();
    stress(workers, "1");
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST_P(sched_stress, random_trees_without_membarrier) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(stress_without_membarrier(GetParam()), ::testing::ExitedWithCode(0), "");
}

} // namespace

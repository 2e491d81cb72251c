// SPDX-License-Identifier: Apache-2.0
//
// Random trees of threads while the number of workers changes at random, on one shepherd and on
// two, by a foreign OS thread and by threads of the run time. TULLE_STRESS_SECONDS: how long each
// test goes on; TULLE_TEST_SEED repeats its choices.
#include "base/rng.hpp"
#include "random_tree.hpp"
#include "stress.hpp"
#include "without_membarrier.hpp"

#include <thread>
#include <vector>

namespace {

using namespace tulle;
using std::chrono::steady_clock;

constexpr int k_most = 4;

// Until the flag is set: changes, and pauses of up to 100 us.
void change_at_random(std::uint64_t seed, std::atomic<bool> const& enough) {
    base::rng random(seed);
    while (!enough.load()) {
        set_worker_count(1 + static_cast<int>(random.below(k_most)));
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(100)));
    }
}

// Threads that are placed where there may be no worker, and which change the number themselves.
void run_placed(std::uint64_t seed) {
    base::rng random(seed);
    std::vector<thread<int>> threads;
    for (int k = 0; k < 40; ++k) {
        attributes how;
        how.shepherd = static_cast<int>(random.below(static_cast<std::uint32_t>(shepherd_count())));
        how.child_first = random.below(4) == 0;
        threads.push_back(spawn(how, [k, wanted = 1 + static_cast<int>(random.below(k_most))] {
            if (k % 8 == 0) set_worker_count(wanted);
            this_thread::yield();
            this_thread::sleep_for(std::chrono::microseconds(k));
            return k;
        }));
    }
    for (int k = 0; k < 40; ++k) ASSERT_EQ(threads[static_cast<std::size_t>(k)].join(), k);
}

void one_round(std::uint64_t seed) {
    std::atomic<bool> enough{false};
    std::thread changer([&] { change_at_random(seed, enough); });
    std::vector<thread<void>> threads;
    for (std::uint64_t k = 1; k < 4; ++k)
        threads.push_back(spawn([s = seed + k] { check_tree(s, 6); }));
    threads.push_back(spawn([seed] { run_placed(seed); }));
    check_tree(seed + 4, 7);
    for (auto& t : threads) t.join();
    enough = true;
    changer.join();
}

void stress(char const* shepherds) {
    set_option("max_workers", std::to_string(k_most));
    set_option("shepherds", shepherds);
    std::uint64_t seed = test_seed();
    int rounds = 0;
    for (auto const end = end_of_run(2); steady_clock::now() < end || rounds == 0;
         ++rounds, seed += 5) {
        if (rounds % 10 == 0) initialize({.workers = 2 + rounds / 10 % 3});
        one_round(seed);
        if (rounds % 10 == 9) finalize();
        if (::testing::Test::HasFailure()) return;
    }
    if (is_initialized()) finalize();
}

TEST(worker_count_stress, random_trees) { stress("1"); }

TEST(worker_count_stress, random_trees_on_two_shepherds) { stress("2"); }

void stress_without_membarrier() {
    forbid_membarrier();
    stress("2");
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(worker_count_stress, random_trees_without_membarrier) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(stress_without_membarrier(), ::testing::ExitedWithCode(0), "");
}

} // namespace

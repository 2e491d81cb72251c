// SPDX-License-Identifier: Apache-2.0
// Bundles of free blocks: what is given comes back once, not more than so many, and nobody waits.
#include "sched/records/shared_blocks.hpp"

#include "runtime_fixture.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace {

using tulle::sched::runnable;
using tulle::sched::runnable_kind;
using tulle::sched::runnable_list;
using tulle::sched::shared_blocks;

runnable_list bundle_of(runnable& block) {
    runnable_list bundle;
    bundle.push_back(block);
    return bundle;
}

TEST(shared_blocks_test, what_is_given_comes_back_the_last_first) {
    auto const shared = std::make_unique<shared_blocks>();
    runnable first(runnable_kind::thread), second(runnable_kind::thread);
    runnable_list taken;
    EXPECT_FALSE(shared->take(taken));
    EXPECT_TRUE(shared->give(bundle_of(first)));
    EXPECT_TRUE(shared->give(bundle_of(second)));
    ASSERT_TRUE(shared->take(taken));
    EXPECT_EQ(taken.first(), &second);
    ASSERT_TRUE(shared->take(taken));
    EXPECT_EQ(taken.first(), &first);
    EXPECT_FALSE(shared->take(taken));
}

TEST(shared_blocks_test, more_than_enough_is_left_to_the_giver) {
    auto const shared = std::make_unique<shared_blocks>();
    std::deque<runnable> blocks;
    std::size_t given = 0;
    do blocks.emplace_back(runnable_kind::thread);
    while (shared->give(bundle_of(blocks.back())) && ++given < 100'000);
    EXPECT_LT(given, 100'000U);
    EXPECT_GT(given, 0U);
    runnable_list taken;
    for (std::size_t k = 0; k != given; ++k) EXPECT_TRUE(shared->take(taken));
    EXPECT_FALSE(shared->take(taken));
}

TEST(shared_blocks_test, many_at_once_lose_none_and_get_none_twice) {
    auto const shared = std::make_unique<shared_blocks>();
    constexpr int k_threads = 4;
    constexpr int k_rounds = 20'000;
    std::deque<runnable> blocks;
    for (int t = 0; t != k_threads; ++t) blocks.emplace_back(runnable_kind::thread);
    std::vector<std::thread> threads;
    for (int t = 0; t != k_threads; ++t) {
        threads.emplace_back([&, own = &blocks[static_cast<std::size_t>(t)]]() mutable {
            for (int k = 0; k != k_rounds; ++k) {
                own->bound = !own->bound; // two at once would race
                runnable_list taken;
                if (shared->give(bundle_of(*own)))
                    while (!shared->take(taken)) std::this_thread::yield();
                else
                    continue;
                own = taken.first();
            }
        });
    }
    for (std::thread& t : threads) t.join();
}

class records_of_workers : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, records_of_workers, ::testing::Values(1, 3));

// Threads that some spawn and others run: their memory goes round.
TEST_P(records_of_workers, go_round) {
    std::atomic<int> ran{0};
    for (int round = 0; round != 20; ++round) {
        std::vector<tulle::thread<void>> threads;
        for (int k = 0; k != 1000; ++k) threads.push_back(tulle::spawn([&ran] { ++ran; }));
        for (auto& t : threads) t.join();
    }
    EXPECT_EQ(ran, 20'000);
}

} // namespace

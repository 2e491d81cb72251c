// SPDX-License-Identifier: Apache-2.0
// A thread that spawns and joins, and never waits, does not gather the records of those that it
// joined.
#include "runtime_fixture.hpp"
#include "sched/watch/census.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace tulle;

constexpr int k_claims = 5000;
// The least number of claims between two sweeps, and as many again.
constexpr std::uint64_t k_most_gathered = 2 * 64;

std::uint64_t queued() { return sched::census(sched::scheduler::instance()).unstarted().all(); }

class claimed_records : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, claimed_records, ::testing::Values(1, 2));

TEST_P(claimed_records, one_after_the_other) {
    for (int k = 0; k < k_claims; ++k) {
        ASSERT_EQ(spawn([k] { return k; }).join(), k);
        ASSERT_LE(queued(), k_most_gathered);
    }
}

TEST_P(claimed_records, leaves_nothing_behind_when_it_comes_next) {
    if (GetParam() != 1) GTEST_SKIP() << "a thief may have it";
    for (int k = 0; k < 10; ++k) {
        spawn([] {}).join();
        ASSERT_EQ(queued(), 0U);
    }
}

TEST_P(claimed_records, with_names_and_places) {
    attributes how;
    how.name = "named";
    how.shepherd = this_thread::shepherd_index();
    for (int k = 0; k < k_claims; ++k) {
        spawn(how, [] {}).join();
        ASSERT_LE(queued(), k_most_gathered);
    }
}

TEST_P(claimed_records, with_names_alone) {
    attributes how;
    how.name = "named";
    for (int k = 0; k < k_claims; ++k) {
        spawn(how, [] {}).join();
        ASSERT_LE(queued(), k_most_gathered);
    }
}

TEST_P(claimed_records, of_threads_with_values_of_their_own) {
    thread_specific<std::string> value;
    for (int k = 0; k < k_claims; ++k) {
        auto const made = [&value, k] { return value.local().append(std::to_string(k)); };
        ASSERT_EQ(spawn(made).join(), std::to_string(k));
        ASSERT_LE(queued(), k_most_gathered);
    }
}

// Destroyed, it joins its thread, which has not started, or waits.
TEST_P(claimed_records, of_timers) {
    for (int k = 0; k < k_claims; ++k) {
        auto const later = timer::after(std::chrono::hours(1), [] {});
        ASSERT_LE(queued(), k_most_gathered);
    }
}

void spawn_nested(int depth) {
    if (depth == 0) return;
    auto t = spawn([depth] { spawn_nested(depth - 1); });
    spawn_nested(depth - 1);
    t.join();
}

TEST_P(claimed_records, youngest_first) {
    for (int k = 0; k < 20; ++k) {
        spawn_nested(8);
        ASSERT_LE(queued(), k_most_gathered);
    }
}

TEST_P(claimed_records, of_batches_in_either_order) {
    constexpr int k_batch = 300;
    for (int k = 0; k < 50; ++k) {
        std::vector<thread<int>> threads;
        for (int i = 0; i < k_batch; ++i) threads.push_back(spawn([i] { return i; }));
        if (k % 2 == 0)
            for (int i = 0; i < k_batch; ++i)
                ASSERT_EQ(threads[static_cast<std::size_t>(i)].join(), i);
        else
            for (int i = k_batch; i-- > 0;)
                ASSERT_EQ(threads[static_cast<std::size_t>(i)].join(), i);
        ASSERT_LE(queued(), 2 * k_batch + k_most_gathered);
    }
}

// Those that nobody has joined stay, in their order.
TEST_P(claimed_records, others_stay_queued) {
    if (GetParam() != 1) GTEST_SKIP() << "a thief may start them";
    std::vector<int> order;
    std::vector<thread<void>> waiting;
    for (int k = 0; k < 100; ++k) waiting.push_back(spawn([&order, k] { order.push_back(k); }));
    for (int k = 0; k < k_claims; ++k) spawn([] {}).join();
    EXPECT_TRUE(order.empty());
    EXPECT_GE(queued(), waiting.size());
    EXPECT_LE(queued(), 2 * waiting.size() + k_most_gathered);
    this_thread::yield(); // to the first, which ends
    for (auto& t : waiting) t.join();
    ASSERT_EQ(order.size(), waiting.size());
    for (int k = 0; k < 100; ++k) EXPECT_EQ(order[static_cast<std::size_t>(k)], k);
}

// The last reference destroys what nobody took: outside the locks of the queues, as the destructor
// may spawn.
TEST_P(claimed_records, results_that_spawn_when_they_are_destroyed) {
    struct spawner {
        bool is_last = false;
        spawner() = default;
        explicit spawner(bool last) : is_last(last) {}
        spawner(spawner&& other) noexcept : is_last(std::exchange(other.is_last, false)) {}
        ~spawner() {
            if (is_last) spawn([] {}).join();
        }
    };
    for (int k = 0; k < k_claims; ++k) {
        auto first = spawn([] {}); // comes next, so that the other one stays in the queue
        auto t = spawn([] { return spawner(true); });
        static_cast<void>(t.join());
        first.join();
        ASSERT_LE(queued(), k_most_gathered);
    }
}

class claimed_where_stacks_are_few : public ::testing::Test {
protected:
    void SetUp() override {
        set_option("max_stacks", "20");
        set_option("max_substitutes", "off");
        initialize({.workers = 1});
    }
    void TearDown() override { finalize(); }
};

TEST_F(claimed_where_stacks_are_few, one_after_the_other) {
    for (int k = 0; k < k_claims; ++k) {
        spawn([] {}).join();
        ASSERT_LE(queued(), k_most_gathered);
    }
}

} // namespace

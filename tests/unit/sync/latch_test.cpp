// SPDX-License-Identifier: Apache-2.0
#include <tulle/latch.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(latch, smoke) {
    tulle::latch empty(0);
    EXPECT_TRUE(empty.try_wait());
    empty.wait();
    tulle::latch two(2);
    two.count_down();
    EXPECT_FALSE(two.try_wait());
    two.count_down(0);
    two.arrive_and_wait();
    EXPECT_TRUE(two.try_wait());
    EXPECT_TRUE(two.wait_for(-1s));
}

TEST(latch, refuses_bad_counts) { EXPECT_THROW(tulle::latch(-1), std::invalid_argument); }

TEST(latch_death, ends_the_program_when_too_many_arrive) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::latch one(1);
    EXPECT_DEATH(one.count_down(2), "less is left");
    EXPECT_DEATH(one.count_down(-1), "less is left");
}

TEST(latch, releases_waiters_of_any_kind_and_shows_what_was_done) {
    tulle::latch ready(3);
    int parts[3] = {};
    std::atomic<int> sums{0};
    auto const wait_and_sum = [&] {
        ready.wait();
        sums += parts[0] + parts[1] + parts[2];
    };
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> foreign;
    for (int i = 0; i < 10; ++i) threads.push_back(tulle::spawn(wait_and_sum));
    for (int i = 0; i < 3; ++i) foreign.emplace_back(wait_and_sum);
    for (int i = 0; i < 3; ++i) {
        threads.push_back(tulle::spawn([&, i] {
            tulle::this_thread::sleep_for(2ms);
            parts[i] = 1;
            ready.count_down();
        }));
    }
    for (auto& t : threads) t.join();
    for (auto& t : foreign) t.join();
    EXPECT_EQ(sums.load(), 13 * 3);
}

TEST(latch, timed_waits) {
    tulle::latch one(1);
    EXPECT_FALSE(one.wait_for(-1s));
    auto const begin = clock_type::now();
    EXPECT_FALSE(tulle::spawn([&one] { return one.wait_for(10ms); }).join());
    EXPECT_GE(clock_type::now() - begin, 10ms);
    bool foreign = true;
    std::thread([&] { foreign = one.wait_until(clock_type::now() + 3ms); }).join();
    EXPECT_FALSE(foreign);
    auto waiter = tulle::spawn([&one] { return one.wait_for(1h); });
    EXPECT_FALSE(waiter.join_for(2ms));
    one.count_down();
    EXPECT_TRUE(waiter.join());
}

TEST(latch, many_waiters) {
    constexpr int k_waiters = 20000;
    tulle::latch ready(1);
    tulle::latch gone(k_waiters);
    for (int i = 0; i < k_waiters; ++i) {
        tulle::spawn_detached(tulle::attributes{.stack_size = 16384}, [&] {
            ready.wait();
            gone.count_down();
        });
    }
    ready.count_down();
    gone.wait();
    EXPECT_TRUE(gone.try_wait());
}

// The one who waits frees it at once, while the last count_down() is still returning.
TEST(latch, may_be_destroyed_when_it_is_zero) {
    for (int i = 0; i < 3000; ++i) {
        auto l = std::make_unique<tulle::latch>(1);
        auto t = tulle::spawn([p = l.get()] { p->count_down(); });
        if (i % 2 == 0)
            l->wait();
        else
            while (!l->try_wait()) tulle::this_thread::yield();
        l.reset();
        t.join();
    }
}

TEST(latch, timed_waiters_race_with_the_last_count_down) {
    for (int i = 0; i < 500; ++i) {
        tulle::latch l(1);
        std::vector<tulle::thread<bool>> waiters;
        for (int k = 0; k < 4; ++k)
            waiters.push_back(
                tulle::spawn([&l, k] { return l.wait_for(std::chrono::microseconds(10 * k)); }));
        tulle::this_thread::sleep_for(std::chrono::microseconds(i % 50));
        l.count_down();
        for (auto& w : waiters) static_cast<void>(w.join());
        EXPECT_TRUE(l.try_wait());
    }
}

} // namespace

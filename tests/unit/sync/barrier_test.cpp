// SPDX-License-Identifier: Apache-2.0
#include <tulle/barrier.hpp>
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

TEST(barrier, of_one_never_waits) {
    tulle::barrier b(1);
    for (int i = 0; i < 3; ++i) b.arrive_and_wait();
    EXPECT_TRUE(b.try_arrive_and_wait());
    EXPECT_TRUE(b.arrive_and_wait_for(-1s));
}

TEST(barrier, refuses_bad_counts) {
    EXPECT_THROW(tulle::barrier(0), std::invalid_argument);
    EXPECT_THROW(tulle::barrier(-3), std::invalid_argument);
}

TEST(barrier, separates_phases_of_threads_of_any_kind) {
    constexpr int k_green = 6;
    constexpr int k_foreign = 2;
    constexpr int k_phases = 300;
    tulle::barrier b(k_green + k_foreign);
    std::vector<int> progress(k_green + k_foreign, 0); // plain: the barrier orders it
    std::atomic<int> errors{0};
    auto const run = [&](std::size_t self) {
        for (int phase = 1; phase <= k_phases; ++phase) {
            progress[self] = phase;
            b.arrive_and_wait();
            for (int const p : progress) errors += p != phase;
            b.arrive_and_wait();
        }
    };
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> foreign;
    for (std::size_t i = 0; i < k_green; ++i)
        threads.push_back(tulle::spawn([&run, i] { run(i); }));
    for (std::size_t i = 0; i < k_foreign; ++i)
        foreign.emplace_back([&run, i] { run(k_green + i); });
    for (auto& t : threads) t.join();
    for (auto& t : foreign) t.join();
    EXPECT_EQ(errors.load(), 0);
}

TEST(barrier, a_timed_out_participant_withdraws) {
    tulle::barrier b(2);
    EXPECT_FALSE(b.try_arrive_and_wait());
    EXPECT_FALSE(b.arrive_and_wait_for(-1s));
    auto const begin = clock_type::now();
    EXPECT_FALSE(b.arrive_and_wait_for(5ms));
    EXPECT_GE(clock_type::now() - begin, 5ms);
    EXPECT_FALSE(b.arrive_and_wait_until(clock_type::now() + 1ms));
    // Would return at once if an arrival had been left behind.
    auto other = tulle::spawn([&b] { b.arrive_and_wait(); });
    EXPECT_FALSE(other.join_for(5ms));
    EXPECT_TRUE(b.arrive_and_wait_for(1h));
    other.join();
}

TEST(barrier, time_outs_race_with_the_last_arrival) {
    constexpr int k_rounds = 2000;
    tulle::barrier b(2);
    std::atomic<int> met{0};
    auto timed = tulle::spawn([&] {
        for (int i = 0; i < k_rounds; ++i) {
            while (!b.arrive_and_wait_for(std::chrono::microseconds(i % 40)))
                tulle::this_thread::yield();
            ++met;
        }
    });
    for (int i = 0; i < k_rounds; ++i) b.arrive_and_wait();
    timed.join();
    EXPECT_EQ(met.load(), k_rounds);
}

TEST(barrier, may_be_destroyed_after_the_last_phase) {
    for (int i = 0; i < 1000; ++i) {
        auto b = std::make_unique<tulle::barrier>(2);
        auto t = tulle::spawn([p = b.get()] { p->arrive_and_wait(); });
        b->arrive_and_wait();
        b.reset();
        t.join();
    }
}

} // namespace

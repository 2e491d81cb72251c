// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(phased_barrier, arrives_now_and_waits_later) {
    tulle::phased_barrier b(2);
    auto mine = b.arrive();
    EXPECT_FALSE(b.try_wait(mine));
    auto const begin = clock_type::now();
    EXPECT_FALSE(b.wait_for(mine, 2ms));
    EXPECT_GE(clock_type::now() - begin, 2ms);
    auto other = b.arrive();
    EXPECT_TRUE(b.try_wait(mine));
    EXPECT_TRUE(b.wait_until(other, clock_type::now()));
    b.wait(std::move(mine));
    b.wait(std::move(other));
    auto both = b.arrive(2);
    b.wait(std::move(both));
}

TEST(phased_barrier, threads_that_drop_are_not_waited_for) {
    tulle::phased_barrier b(3);
    b.arrive_and_drop();
    b.arrive_and_drop();
    for (int k = 0; k < 3; ++k) b.arrive_and_wait();
    b.arrive_and_drop();
    tulle::phased_barrier none(0);
}

TEST(phased_barrier, completes_each_phase_once_before_anybody_goes_on) {
    constexpr int k_threads = 8;
    constexpr int k_phases = 300;
    std::array<int, k_threads> progress{}; // plain: the barrier orders it
    int completed = 0;                     // likewise
    std::atomic<int> errors{0};
    tulle::phased_barrier b(k_threads, [&]() noexcept {
        ++completed;
        for (int const p : progress) errors += p != completed;
        if (completed % 50 == 0) tulle::this_thread::sleep_for(10us); // it may wait
    });
    run_in_both_kinds(k_threads - 2, 2, [&](int self) {
        for (int phase = 1; phase <= k_phases; ++phase) {
            progress[static_cast<std::size_t>(self)] = phase;
            auto arrival = b.arrive();
            if ((self + phase) % 3 == 0)
                while (!b.wait_for(arrival, std::chrono::microseconds(phase % 20)))
                    tulle::this_thread::yield();
            else
                b.wait(std::move(arrival));
            errors += completed < phase;
        }
    });
    EXPECT_EQ(errors.load(), 0);
    EXPECT_EQ(completed, k_phases);
}

TEST(phased_barrier, participants_leave_one_after_the_other) {
    constexpr int k_threads = 6;
    tulle::phased_barrier b(k_threads);
    std::atomic<int> phases{0};
    run_in_both_kinds(k_threads, 0, [&](int self) {
        for (int k = 0; k < self; ++k) {
            b.arrive_and_wait();
            ++phases;
        }
        b.arrive_and_drop();
    });
    EXPECT_EQ(phases.load(), 15);
}

TEST(phased_barrier, an_arrival_counts_after_a_limit) {
    tulle::phased_barrier b(2);
    tulle::cancellation_source source;
    std::atomic<bool> gave_up{false};
    auto waiter = tulle::spawn([&] {
        auto arrival = b.arrive();
        bool const met = b.wait(arrival, source.get_token());
        gave_up = true;
        b.wait(std::move(arrival));
        return met;
    });
    tulle::this_thread::sleep_for(1ms);
    source.request_stop();
    while (!gave_up) tulle::this_thread::yield();
    b.arrive_and_wait();
    EXPECT_FALSE(waiter.join());
}

TEST(phased_barrier, refuses_bad_counts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_THROW(tulle::phased_barrier(-1), std::invalid_argument);
    tulle::phased_barrier b(2);
    EXPECT_DEATH(
        static_cast<void>(b.arrive(3)),
        "tulle: phased barrier 0x[0-9a-f]+: 3 more arrive, but fewer are expected in this phase");
    EXPECT_DEATH(static_cast<void>(b.arrive(-1)), "-1 more arrive");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/stuck_judge.hpp"

#include <gtest/gtest.h>

namespace tulle::sched {
namespace {

constexpr std::uint64_t k_us = 1'000;
constexpr std::uint64_t k_start = 1'000'000'000;

class judge_test : public ::testing::Test {
protected:
    judge_test() { judge.reserve(2); }
    struct task {
        judge_test* test;
        bool is_in_kernel;
        std::uint64_t computed;

        bool in_kernel() const {
            ++test->asked;
            return is_in_kernel;
        }
        std::uint64_t computed_ns() const { return computed; }
    };

    // `at`: us after the start.
    stuck_state judge_at(std::uint64_t at, worker_sample seen, bool in_kernel = false) {
        return judge.judge(1, seen, k_start + at * k_us, task{this, in_kernel, 0});
    }
    stuck_state judge_by_use(std::uint64_t at, worker_sample seen, std::uint64_t computed_us) {
        return judge.judge(1, seen, k_start + at * k_us,
                           task{this, false, k_start + computed_us * k_us});
    }

    stuck_judge judge;
    int asked = 0;
};

constexpr worker_sample busy(std::uint32_t decisions) { return {false, decisions}; }
constexpr worker_sample idle(std::uint32_t decisions) { return {true, decisions}; }

TEST_F(judge_test, a_worker_that_comes_back_is_never_stuck) {
    for (std::uint32_t k = 0; k < 100; ++k)
        EXPECT_EQ(judge_at(20'000 * k, busy(k), true), stuck_state::free);
    EXPECT_EQ(asked, 0);
}

TEST_F(judge_test, an_idle_worker_is_never_stuck) {
    for (std::uint32_t k = 0; k < 100; ++k)
        EXPECT_EQ(judge_at(20'000 * k, idle(7), true), stuck_state::free);
    EXPECT_EQ(asked, 0);
}

TEST_F(judge_test, in_the_kernel_for_a_millisecond) {
    EXPECT_EQ(judge_at(0, busy(3), true), stuck_state::free);
    EXPECT_EQ(judge_at(900, busy(3), true), stuck_state::free);
    EXPECT_EQ(asked, 0); // asking costs a read of /proc
    EXPECT_EQ(judge_at(1'000, busy(3), true), stuck_state::in_kernel);
    EXPECT_EQ(judge_at(5'000, busy(4), true), stuck_state::free);
    EXPECT_EQ(judge_at(5'500, busy(4), true), stuck_state::free);
    EXPECT_EQ(judge_at(6'100, busy(4), true), stuck_state::in_kernel);
}

TEST_F(judge_test, computing_for_ten) {
    EXPECT_EQ(judge_at(0, busy(3)), stuck_state::free);
    EXPECT_EQ(judge_at(9'900, busy(3)), stuck_state::free);
    EXPECT_EQ(judge_at(10'000, busy(3)), stuck_state::computes);
    EXPECT_EQ(judge_at(11'000, busy(3), true), stuck_state::in_kernel);
    EXPECT_EQ(judge_at(12'000, busy(3)), stuck_state::computes);
    EXPECT_EQ(judge_at(13'000, idle(3)), stuck_state::free);
    EXPECT_EQ(judge_at(14'000, busy(3)), stuck_state::free); // it has begun anew
}

TEST_F(judge_test, not_while_it_waits_for_a_processor) {
    EXPECT_EQ(judge_by_use(0, busy(3), 500), stuck_state::free);
    EXPECT_EQ(judge_by_use(10'000, busy(3), 700), stuck_state::free);
    EXPECT_EQ(judge_by_use(20'000, busy(3), 4'400), stuck_state::free);
    EXPECT_EQ(judge_by_use(30'000, busy(3), 4'600), stuck_state::computes);
    EXPECT_EQ(judge_by_use(40'000, busy(4), 5'000), stuck_state::free);
    EXPECT_EQ(judge_by_use(50'000, busy(4), 8'000), stuck_state::free);
}

} // namespace
} // namespace tulle::sched

// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/stuck_log.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace tulle::sched {
namespace {

constexpr std::uint64_t k_ms = 1'000'000;
constexpr auto k_in_kernel = stuck_state::in_kernel;

struct stuck_log_test : testing::Test {
    stuck_log_test() { log.begin(2); }

    std::map<int, stuck_times> calls(std::uint64_t now) const {
        std::map<int, stuck_times> found;
        log.each_call(now, [&](int call, stuck_times const& t) { found[call] = t; });
        return found;
    }
    stuck_log log;
};

TEST_F(stuck_log_test, is_empty_at_first) {
    EXPECT_TRUE(calls(5 * k_ms).empty());
    EXPECT_EQ(log.computing(5 * k_ms).times, 0U);
}

TEST_F(stuck_log_test, adds_what_has_ended_by_call) {
    log.note(0, k_in_kernel, 35, 1 * k_ms, 3 * k_ms);
    log.note(0, stuck_state::free, -1, 9 * k_ms, 9 * k_ms);
    log.note(0, k_in_kernel, 35, 10 * k_ms, 12 * k_ms);
    log.note(0, stuck_state::free, -1, 12 * k_ms, 12 * k_ms);
    log.note(1, k_in_kernel, 0, 10 * k_ms, 12 * k_ms);
    log.note(1, stuck_state::free, -1, 20 * k_ms, 20 * k_ms);
    auto const seen = calls(30 * k_ms);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen.at(35).times, 2U);
    EXPECT_EQ(seen.at(35).total_ns, 10 * k_ms);
    EXPECT_EQ(seen.at(35).longest_ns, 8 * k_ms);
    EXPECT_EQ(seen.at(0).total_ns, 10 * k_ms);
}

TEST_F(stuck_log_test, counts_what_lasts_until_now) {
    log.note(0, k_in_kernel, 7, 1 * k_ms, 2 * k_ms);
    EXPECT_EQ(calls(11 * k_ms).at(7).longest_ns, 10 * k_ms);
    log.note(0, stuck_state::computes, -1, 20 * k_ms, 30 * k_ms); // it came back meanwhile
    EXPECT_EQ(calls(40 * k_ms).at(7).total_ns, 19 * k_ms);
    EXPECT_EQ(log.computing(40 * k_ms).total_ns, 20 * k_ms);
}

TEST_F(stuck_log_test, ends_when_a_worker_runs_on_that_has_not_come_back) {
    log.note(0, k_in_kernel, 7, 1 * k_ms, 3 * k_ms);
    log.note(0, stuck_state::free, -1, 1 * k_ms, 9 * k_ms);
    EXPECT_EQ(calls(20 * k_ms).at(7).total_ns, 8 * k_ms);
}

TEST_F(stuck_log_test, takes_the_last_call_that_was_told) {
    log.note(0, k_in_kernel, stuck_log::k_unknown_call, 1 * k_ms, 2 * k_ms);
    log.note(0, k_in_kernel, 7, 1 * k_ms, 3 * k_ms);
    log.note(0, k_in_kernel, stuck_log::k_unknown_call, 1 * k_ms, 4 * k_ms);
    log.note(0, stuck_state::free, -1, 5 * k_ms, 5 * k_ms);
    auto const seen = calls(6 * k_ms);
    EXPECT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen.at(7).times, 1U);
}

TEST_F(stuck_log_test, counts_calls_without_a_number_as_one) {
    log.note(0, k_in_kernel, 1'000'000, 1 * k_ms, 2 * k_ms);
    log.note(1, k_in_kernel, stuck_log::k_unknown_call, 1 * k_ms, 2 * k_ms);
    EXPECT_EQ(calls(3 * k_ms).at(stuck_log::k_unknown_call).times, 2U);
}

TEST_F(stuck_log_test, begins_anew) {
    log.note(0, stuck_state::computes, -1, 1 * k_ms, 2 * k_ms);
    log.note(0, k_in_kernel, 7, 3 * k_ms, 4 * k_ms);
    log.begin(1);
    EXPECT_TRUE(calls(9 * k_ms).empty());
    EXPECT_EQ(log.computing(9 * k_ms).times, 0U);
}

} // namespace
} // namespace tulle::sched

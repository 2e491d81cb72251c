// SPDX-License-Identifier: Apache-2.0
// When threads are searched for circles. What is found is tested in tests/reports/.
#include "sched/watch/standstill_finder.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

constexpr std::uint64_t k_first = 1'000'000'000;

struct circle_schedule_test : ::testing::Test {
    circle_schedule_test() { schedule.start(k_begin, k_first); }
    // One that takes `took`, when it is due. How long after it the next one is due.
    std::uint64_t search(circle_search found = circle_search::none, std::uint64_t took = 0) {
        std::uint64_t const begin = schedule.due();
        schedule.searched(begin, begin + took, found);
        return schedule.due() - begin;
    }

    static constexpr std::uint64_t k_begin = 5'000;
    circle_schedule schedule;
};

TEST_F(circle_schedule_test, the_first_search_comes_after_the_first_time) {
    EXPECT_EQ(schedule.due(), k_begin + k_first);
}

TEST_F(circle_schedule_test, searches_become_rarer_up_to_a_limit) {
    std::uint64_t expected = k_first;
    for (int k = 0; k < 7; ++k, expected *= 2) EXPECT_EQ(search(), expected);
    EXPECT_EQ(search(), 64 * k_first);
    EXPECT_EQ(search(), 64 * k_first);
}

TEST_F(circle_schedule_test, a_doubtful_circle_is_searched_again_soon) {
    EXPECT_EQ(search(circle_search::doubtful), k_first / 4);
    EXPECT_EQ(search(circle_search::found), 2 * k_first);
}

TEST_F(circle_schedule_test, searches_take_a_small_share_of_the_time) {
    constexpr std::uint64_t k_took = 1'000'000;
    EXPECT_EQ(search(circle_search::none, k_took), 20'000 * k_took);
}

TEST_F(circle_schedule_test, begins_anew_with_the_next_start) {
    for (int k = 0; k < 5; ++k) static_cast<void>(search());
    schedule.start(0, k_first);
    EXPECT_EQ(search(), k_first);
}

} // namespace

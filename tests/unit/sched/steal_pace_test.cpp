// SPDX-License-Identifier: Apache-2.0
#include "sched/steal_pace.hpp"

#include <gtest/gtest.h>

namespace {

using tulle::sched::steal_pace;

constexpr std::uint32_t k_count = 32;
constexpr std::uint64_t k_enough_ns = k_count * steal_pace::k_worthwhile_ns;

// Steals at `now`, and asks again `later` ns afterwards.
bool steal_and_ask(steal_pace& pace, std::uint64_t now, std::uint64_t later) {
    pace.stole(now, k_count);
    return pace.is_due(now + later);
}

TEST(steal_pace, the_first_steal_is_due) {
    steal_pace pace;
    EXPECT_TRUE(pace.is_due(1));
}

TEST(steal_pace, a_steal_that_paid_is_followed_by_another) {
    steal_pace pace;
    EXPECT_TRUE(steal_and_ask(pace, 1000, k_enough_ns));
    EXPECT_LE(pace.rests_until(), 1000 + k_enough_ns);
}

TEST(steal_pace, a_steal_that_did_not_pay_is_followed_by_a_rest) {
    steal_pace pace;
    EXPECT_FALSE(steal_and_ask(pace, 1000, k_enough_ns - 1));
    std::uint64_t const until = pace.rests_until();
    EXPECT_EQ(until, 1000 + k_enough_ns - 1 + steal_pace::k_first_rest_ns);
    EXPECT_FALSE(pace.is_due(until - 1));
    EXPECT_TRUE(pace.is_due(until));
}

TEST(steal_pace, a_single_thread_has_to_take_longer_than_its_steal) {
    steal_pace pace;
    pace.stole(1000, 1);
    EXPECT_FALSE(pace.is_due(1000 + steal_pace::k_cost_ns - 1));
    std::uint64_t const now = pace.rests_until();
    pace.stole(now, 1);
    EXPECT_TRUE(pace.is_due(now + steal_pace::k_cost_ns));
}

TEST(steal_pace, rests_double_up_to_the_longest) {
    steal_pace pace;
    std::uint64_t now = 1000;
    std::uint64_t rest = 0;
    for (int i = 0; i < 12; ++i) {
        EXPECT_FALSE(steal_and_ask(pace, now, 1));
        std::uint64_t const next = pace.rests_until() - now - 1;
        EXPECT_TRUE(next == 2 * rest || rest == 0 || next == steal_pace::k_longest_rest_ns) << i;
        rest = next;
        now = pace.rests_until();
    }
    EXPECT_EQ(rest, steal_pace::k_longest_rest_ns);
}

TEST(steal_pace, one_steal_that_paid_ends_the_rests) {
    steal_pace pace;
    EXPECT_FALSE(steal_and_ask(pace, 1000, 1));
    std::uint64_t const now = pace.rests_until();
    EXPECT_TRUE(steal_and_ask(pace, now, k_enough_ns));
    EXPECT_FALSE(steal_and_ask(pace, 2 * now, 1));
    EXPECT_EQ(pace.rests_until(), 2 * now + 1 + steal_pace::k_first_rest_ns);
}

} // namespace

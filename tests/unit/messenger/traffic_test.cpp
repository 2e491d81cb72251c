// SPDX-License-Identifier: Apache-2.0
#include "messenger/traffic.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace tulle::messenger {
namespace {

// Messages one right after the other, until that is noticed. False: it never is.
bool becomes_dense(traffic& t) {
    for (int k = 0; k < 100'000; ++k) {
        t.polled(true);
        if (t.is_dense()) return true;
    }
    return false;
}

TEST(traffic, nothing_is_expected_at_first) {
    traffic t;
    EXPECT_FALSE(t.is_dense());
    t.polled(true);
    EXPECT_FALSE(t.is_dense());
}

TEST(traffic, the_next_is_expected_where_messages_come_densely) {
    traffic t;
    EXPECT_TRUE(becomes_dense(t));
    EXPECT_GT(t.expects_until(), 0U);
}

TEST(traffic, polls_that_find_nothing_are_no_messages) {
    traffic t;
    for (int k = 0; k < 1000; ++k) t.polled(false);
    EXPECT_FALSE(t.is_dense());
    ASSERT_TRUE(becomes_dense(t));
    auto const until = t.expects_until();
    t.polled(false);
    EXPECT_EQ(t.expects_until(), until);
}

TEST(traffic, nothing_is_expected_after_a_long_gap) {
    traffic t;
    ASSERT_TRUE(becomes_dense(t));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(t.is_dense());
    t.polled(true);
    EXPECT_EQ(t.expects_until(), 0U);
}

TEST(traffic, nobody_waits_where_processors_are_shared) {
    traffic t;
    t.share_processors();
    EXPECT_TRUE(becomes_dense(t)); // so a watch is worth keeping
    EXPECT_EQ(t.expects_until(), 0U);
}

TEST(traffic, nobody_yields_or_looks_for_long_after_a_slow_yield) {
    traffic t;
    t.have_yielded(100'000, os::monotonic_ns());
    EXPECT_FALSE(t.yields_are_slow());
    EXPECT_TRUE(becomes_dense(t));
    EXPECT_GT(t.expects_until(), 0U);
    constexpr std::uint64_t k_hour = 3'600'000'000'000; // the test may be held up
    t.have_yielded(3'000'000, os::monotonic_ns() + k_hour);
    EXPECT_TRUE(t.yields_are_slow());
    EXPECT_TRUE(becomes_dense(t));
    EXPECT_EQ(t.expects_until(), 0U);
}

TEST(traffic, slow_yields_are_forgotten) {
    traffic t;
    t.have_yielded(1'000'000, os::monotonic_ns() - 1'000'000'000);
    EXPECT_FALSE(t.yields_are_slow());
}

} // namespace
} // namespace tulle::messenger

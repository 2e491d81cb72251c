// SPDX-License-Identifier: Apache-2.0
#include "base/rng.hpp"

#include <array>

#include <gtest/gtest.h>

namespace {

using tulle::base::rng;

TEST(rng, equals_the_published_sequence) {
    rng random(1234567);
    EXPECT_EQ(random.next(), 6457827717110365317U);
    EXPECT_EQ(random.next(), 3203168211198807973U);
    EXPECT_EQ(random.next(), 9817491932198370423U);
}

TEST(rng, below_stays_below_and_reaches_all) {
    rng random(0);
    std::array<int, 7> hits{};
    for (int i = 0; i < 7000; ++i) {
        std::uint32_t const value = random.below(7);
        ASSERT_LT(value, 7U);
        ++hits[value];
    }
    for (int const count : hits) {
        EXPECT_GT(count, 850);
        EXPECT_LT(count, 1150);
    }
    EXPECT_EQ(random.below(1), 0U);
    EXPECT_EQ(random.below(0), 0U);
}

} // namespace

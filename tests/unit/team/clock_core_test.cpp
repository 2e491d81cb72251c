// SPDX-License-Identifier: Apache-2.0
//
// What the home of a clock makes of a death that it has heard of before anybody joined there; what
// comes in any order is in tests/model/clock_test.cpp.
#include "team/clock_core.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace {

struct place_is_dead {
    int place;
};
// Place 1 is dead.
struct plain_sync {
    using mutex = std::mutex;
    using condition = std::condition_variable;
    [[noreturn]] static void throw_dead_place(int place) { throw place_is_dead{place}; }
    [[nodiscard]] static bool is_dead(int place) noexcept { return place == 1; }
};

// Nobody would ever arrive for such a member.
TEST(clock_core, nobody_joins_at_a_place_that_has_died) {
    tulle::teams::clock_core<plain_sync> clock(0);
    clock.lose(1); // without a member there it leaves no trace
    EXPECT_THROW(clock.join(1), place_is_dead);
    EXPECT_EQ(clock.arrive_and_wait(0, 1).dead, -1);
    clock.join(2);
    EXPECT_FALSE(clock.drop(2));
    EXPECT_TRUE(clock.drop(0));
}

} // namespace

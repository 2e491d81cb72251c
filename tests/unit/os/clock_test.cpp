// SPDX-License-Identifier: Apache-2.0
#include "os/clock.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace {

TEST(clock, is_the_steady_clock) {
    auto const steady = [] {
        return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds(1));
    };
    auto const before = steady();
    auto const now = tulle::os::monotonic_ns();
    auto const after = steady();
    EXPECT_LE(before, now);
    EXPECT_LE(now, after);
}

} // namespace

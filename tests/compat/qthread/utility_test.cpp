// SPDX-License-Identifier: Apache-2.0
// Functions that need no run time.
#include <qthread/cacheline.h>
#include <qthread/hash.h>
#include <qthread/qtimer.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace {

TEST(qtimer, measures_the_time_between_start_and_stop) {
    qtimer_t const timer = qtimer_create();
    double const before = qtimer_wtime();
    qtimer_start(timer);
    while (qtimer_wtime() < before + 1e-3) {}
    qtimer_stop(timer);
    EXPECT_GT(qtimer_secs(timer), 0);
    EXPECT_LE(qtimer_secs(timer), qtimer_wtime() - before);
    EXPECT_GT(qtimer_res(), 0);
    qtimer_destroy(timer);
}

TEST(qtimer, fast_random_numbers_differ) {
    std::set<unsigned long> drawn;
    for (int k = 0; k < 1000; ++k) drawn.insert(qtimer_fastrand());
    EXPECT_EQ(drawn.size(), 1000U);
}

TEST(cacheline, is_a_power_of_two) {
    int const bytes = qthread_cacheline();
    EXPECT_GE(bytes, 16);
    EXPECT_EQ(bytes & (bytes - 1), 0);
}

TEST(hash, of_different_keys_differs) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t k = 0; k < 1000; ++k) seen.insert(qt_hash64(k) & 0xffffffffU);
    EXPECT_EQ(seen.size(), 1000U);
}

TEST(hash, of_bytes_depends_on_each_byte_the_length_and_the_state) {
    std::string text = "The quick brown fox";
    aligned_t const before = qt_hash_bytes(text.data(), text.size(), 1);
    EXPECT_EQ(qt_hash_bytes(text.data(), text.size(), 1), before);
    EXPECT_NE(qt_hash_bytes(text.data(), text.size(), 2), before);
    EXPECT_NE(qt_hash_bytes(text.data(), text.size() - 1, 1), before);
    for (char& c : text) {
        c ^= 1;
        EXPECT_NE(qt_hash_bytes(text.data(), text.size(), 1), before);
        c ^= 1;
    }
}

} // namespace

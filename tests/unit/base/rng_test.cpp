// SPDX-License-Identifier: Apache-2.0
#include "base/rng.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

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

// Words that differ in few of their lower bits spread over a table, whether it is indexed by high
// bits or by low ones.
TEST(mix, similar_words_spread) {
    constexpr std::size_t k_words = 4096, k_slots = 64;
    constexpr int k_most = 2 * k_words / k_slots;
    for (unsigned const shift : {0U, 8U, 16U}) {
        std::array<int, k_slots> low{}, high{};
        for (std::uint64_t k = 0; k < k_words; ++k) {
            std::uint64_t const hash = tulle::base::mix(0, k << shift);
            ++low[hash % k_slots];
            ++high[hash >> 58U];
        }
        EXPECT_LT(*std::max_element(low.begin(), low.end()), k_most);
        EXPECT_LT(*std::max_element(high.begin(), high.end()), k_most);
    }
}

TEST(mix, each_word_counts_and_their_order_does) {
    using tulle::base::mix;
    EXPECT_NE(mix(mix(0, 1), 2), mix(mix(0, 2), 1));
    EXPECT_NE(mix(mix(0, 1), 2), mix(mix(0, 1), 3));
    EXPECT_NE(mix(1, 5), mix(2, 5));
}

} // namespace

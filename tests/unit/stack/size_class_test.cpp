// SPDX-License-Identifier: Apache-2.0
#include "stack/size_class.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle::stack;

TEST(size_class, rounds_up_to_powers_of_two) {
    EXPECT_EQ(class_for(1).bytes(), 16384U);
    EXPECT_EQ(class_for(16384).bytes(), 16384U);
    EXPECT_EQ(class_for(16385).bytes(), 32768U);
    EXPECT_EQ(class_for(262144).bytes(), 262144U);
    EXPECT_EQ(class_for(300000).bytes(), 524288U);
    EXPECT_EQ(class_for(k_largest_bytes).bytes(), k_largest_bytes);
    EXPECT_EQ(class_for(k_largest_bytes + 1).bytes(), k_largest_bytes);
    EXPECT_EQ(class_for(k_largest_bytes).index, k_class_count - 1);
}

TEST(size_class, compact_is_exactly_one_kibibyte) {
    EXPECT_TRUE(class_for(1024).is_compact());
    EXPECT_EQ(class_for(1024).bytes(), 1024U);
    EXPECT_FALSE(class_for(1023).is_compact());
    EXPECT_FALSE(class_for(1025).is_compact());
}

TEST(size_class, every_class_is_its_own_round_trip) {
    for (std::size_t i = 0; i < k_class_count; ++i) {
        size_class const one{static_cast<std::uint8_t>(i)};
        EXPECT_EQ(class_for(one.bytes()), one);
    }
}

} // namespace

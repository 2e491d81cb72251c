// SPDX-License-Identifier: Apache-2.0
#include "races/blocks.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tulle::races {
namespace {

TEST(block_list, finds_the_block_of_an_address) {
    auto const all = std::make_unique<block_list>();
    all->add({1000, 100, 1});
    all->add({1100, 50, 2});
    EXPECT_EQ(all->find(1099)->pc, 1U);
    EXPECT_EQ(all->find(1100)->pc, 2U);
    EXPECT_FALSE(all->find(999));
    EXPECT_FALSE(all->find(1150));
}

TEST(block_list, forgets_what_was_freed) {
    auto const all = std::make_unique<block_list>();
    all->add({1000, 100, 1});
    all->add({2000, 100, 2});
    all->remove(1000);
    EXPECT_FALSE(all->find(1000));
    all->remove(1000);
    for (std::uint64_t k = 0; k < 200'000; ++k) { // places are used again
        all->add({1000, 10, 3});
        ASSERT_EQ(all->find(1009)->pc, 3U);
        all->remove(1000);
    }
    EXPECT_EQ(all->find(2099)->pc, 2U);
}

TEST(block_list, that_is_full_goes_on_without) {
    auto const all = std::make_unique<block_list>();
    for (std::uint64_t k = 1; k <= 70'000; ++k) all->add({k * 16, 16, k});
    EXPECT_TRUE(all->find(16));
    EXPECT_FALSE(all->find(70'000 * 16));
}

} // namespace
} // namespace tulle::races

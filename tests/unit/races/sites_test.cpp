// SPDX-License-Identifier: Apache-2.0
#include "races/sites.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace tulle::races {
namespace {

TEST(site_table, numbers_each_place_once) {
    auto const table = std::make_unique<site_table>();
    std::set<std::size_t> all;
    for (std::uint64_t pc = 1; pc <= 100'000; ++pc) {
        bool is_new = false;
        std::size_t const made = table->insert(pc * 5, is_new);
        ASSERT_TRUE(is_new);
        ASSERT_NE(made, site_table::k_none);
        ASSERT_LT(made, std::size_t{1} << k_site_bits);
        ASSERT_TRUE(all.insert(made).second);
        ASSERT_EQ(table->at(made), pc * 5);
    }
    bool is_new = true;
    EXPECT_EQ(table->at(table->insert(500, is_new)), 500U);
    EXPECT_FALSE(is_new);
}

TEST(site_table, that_is_full_has_no_number) {
    auto const table = std::make_unique<number_set<6>>();
    std::size_t last = 1;
    for (std::uint64_t k = 1; k <= 64; ++k) {
        bool is_new = false;
        last = table->insert(k, is_new);
    }
    EXPECT_EQ(last, number_set<6>::k_none);
}

TEST(site_table, is_the_same_for_all) {
    auto const table = std::make_unique<site_table>();
    constexpr std::size_t k_threads = 4;
    constexpr std::size_t k_places = 5000;
    std::vector<std::vector<std::size_t>> made(k_threads, std::vector<std::size_t>(k_places));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < k_threads; ++t)
        threads.emplace_back([&, t] {
            bool is_new = false;
            for (std::size_t k = 0; k < k_places; ++k) made[t][k] = table->insert(k + 1, is_new);
        });
    for (std::thread& t : threads) t.join();
    for (std::size_t t = 1; t < k_threads; ++t) EXPECT_EQ(made[t], made[0]);
}

TEST(site_pairs, are_told_once_in_whatever_order) {
    auto const pairs = std::make_unique<site_pairs>();
    EXPECT_TRUE(pairs->insert(3, 4));
    EXPECT_FALSE(pairs->insert(4, 3));
    EXPECT_TRUE(pairs->insert(3, 3));
    EXPECT_TRUE(pairs->insert(0, 0));
    EXPECT_FALSE(pairs->insert(0, 0));
}

} // namespace
} // namespace tulle::races

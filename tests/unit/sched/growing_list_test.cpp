// SPDX-License-Identifier: Apache-2.0
#include "sched/growing_list.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace {

using tulle::sched::growing_list;

TEST(growing_list, grows_and_is_cleared) {
    growing_list<int> list;
    EXPECT_EQ(list.begin(), list.end());
    for (int round = 0; round < 2; ++round) {
        list.reserve(3);
        for (int k = 0; k < 3; ++k) {
            EXPECT_EQ(list.size(), static_cast<std::size_t>(k));
            list.push_back(10 * k);
        }
        int sum = 0;
        for (int const value : list) sum += value;
        EXPECT_EQ(sum, 30);
        EXPECT_EQ(list[1], 10);
        list.clear();
        EXPECT_EQ(list.size(), 0U);
    }
}

TEST(growing_list, readers_find_whole_items) {
    constexpr std::size_t k_items = 20000;
    growing_list<std::unique_ptr<std::size_t>> list;
    list.reserve(k_items);
    std::thread reader([&list] {
        for (std::size_t seen = 0; seen < k_items;) {
            std::size_t const now = list.size();
            ASSERT_GE(now, seen);
            for (; seen < now; ++seen) ASSERT_EQ(*list[seen], seen);
        }
    });
    for (std::size_t k = 0; k < k_items; ++k) list.push_back(std::make_unique<std::size_t>(k));
    reader.join();
}

#ifndef NDEBUG
TEST(growing_list_death_test, full) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    growing_list<int> list;
    list.reserve(1);
    list.push_back(1);
    EXPECT_DEATH(list.push_back(2), "a list for 1 items is full");
}
#endif

} // namespace

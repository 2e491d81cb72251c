// SPDX-License-Identifier: Apache-2.0
#include "finish/batch_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace {

using tulle::finishes::batch;
using tulle::finishes::batch_change;
using tulle::finishes::batch_table;

using numbers = std::map<batch, std::int32_t>;

numbers numbers_in(batch_table const& table) {
    numbers found;
    for (batch_change const& one : table.all()) found.emplace(one.messages, one.by);
    return found;
}

// In any order of additions.
batch_table table_of(numbers const& all, bool backwards) {
    batch_table made;
    if (!backwards)
        for (auto const& [messages, by] : all) made.add(messages, by);
    else
        for (auto one = all.rbegin(); one != all.rend(); ++one) made.add(one->first, one->second);
    return made;
}

TEST(batch_table, a_number_that_becomes_zero_is_gone) {
    batch_table table;
    EXPECT_TRUE(table.empty());
    table.add({1, 2, 3}, 2);
    table.add({1, 2, 3}, 0);
    EXPECT_FALSE(table.empty());
    table.add({1, 2, 3}, -2);
    EXPECT_TRUE(table.empty());
    table.add({1, 2, 3}, 0);
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table, batch_table());
}

TEST(batch_table, the_same_numbers_as_a_map_has_and_equal_whatever_came_before) {
    std::mt19937 random(7); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
    auto const below = [&random](std::uint32_t n) {
        return static_cast<std::uint32_t>(random() % n);
    };
    batch_table table;
    numbers model;
    bool was_many = false;
    for (int step = 0; step < 20'000; ++step) {
        std::uint32_t const places = step / 2'000 % 2 == 0 ? 2 : 5; // few batches, then more
        batch const messages{below(places), below(places), below(2)};
        auto const by = static_cast<std::int32_t>(below(3)) - 1;
        table.add(messages, by);
        if ((model[messages] += by) == 0) model.erase(messages);
        if (step % 16 == 0) { // let it become few again
            for (auto const& [each, number] : numbers(model)) table.add(each, -number);
            model.clear();
        }
        ASSERT_EQ(table.empty(), model.empty());
        ASSERT_EQ(numbers_in(table), model);
        ASSERT_EQ(table, table_of(model, step % 2 == 0));
        was_many |= !table.are_few();
        if (table.are_few()) {
            ASSERT_EQ(table.few().size(), model.size());
        }
    }
    EXPECT_TRUE(was_many);
}

TEST(batch_table, a_copy_is_one_of_its_own) {
    batch_table table;
    for (std::uint32_t place = 0; place < 9; ++place) table.add({place, 0, 1}, 1);
    batch_table const copy = table;
    EXPECT_EQ(copy, table);
    table.add({3, 0, 1}, 1);
    EXPECT_NE(copy, table);
    EXPECT_EQ(numbers_in(copy).at({3, 0, 1}), 1);
    EXPECT_LT(copy, table);
}

} // namespace

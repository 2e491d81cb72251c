// SPDX-License-Identifier: Apache-2.0
#include "finish/part_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace {

using tulle::finishes::finish_part;
using tulle::finishes::part_table;
using tulle::net::rank;

using name = std::pair<rank, std::uint64_t>;

// A part has ended, and its memory is given back.
void end(part_table& table, finish_part& part) {
    table.take_out(part);
    part.clear();
    if (!table.keep(part)) delete &part;
}

TEST(part_table, a_part_is_found_by_its_home_and_its_root) {
    part_table table(nullptr);
    finish_part& one = table.begin(1, 64, 1, 0);
    finish_part& two = table.begin(2, 64, 2, 0);
    EXPECT_EQ(table.find(1, 64), &one);
    EXPECT_EQ(table.find(2, 64), &two);
    EXPECT_EQ(table.find(1, 65), nullptr); // of a finish that can be cancelled
    EXPECT_EQ(table.find(3, 64), nullptr);
    end(table, one);
    EXPECT_EQ(table.find(1, 64), nullptr);
    EXPECT_EQ(table.find(2, 64), &two);
}

// Whichever list they are in.
TEST(part_table, parts_of_one_root_and_other_homes_are_others) {
    part_table table(nullptr);
    std::vector<finish_part*> parts;
    for (rank home = 0; home < 10; ++home) parts.push_back(&table.begin(home, 64, home + 1, 0));
    for (rank home = 0; home < 1'000; ++home)
        EXPECT_EQ(table.find(home, 64), home < 10 ? parts[home] : nullptr) << home;
}

TEST(part_table, a_part_that_begins_where_another_one_has_ended_has_nothing_of_it) {
    part_table table(nullptr);
    finish_part& first = table.begin(1, 64, 1, 0);
    first.share.arrive({1, 0, 0});
    EXPECT_TRUE(first.share.end());
    end(table, first);
    finish_part& next = table.begin(2, 128, 7, 3);
    EXPECT_EQ(&next, &first);
    EXPECT_EQ(next.home, 2U);
    EXPECT_EQ(next.root, 128U);
    EXPECT_EQ(next.born, 3U);
    EXPECT_EQ(next.share, tulle::finishes::finish_share(7));
}

TEST(part_table, the_memory_of_few_parts_is_kept) {
    part_table table(nullptr);
    std::vector<finish_part*> parts;
    for (std::uint64_t k = 1; k <= 100; ++k) parts.push_back(&table.begin(1, 64 * k, k, 0));
    std::size_t kept = 0;
    for (finish_part* const part : parts) {
        table.take_out(*part);
        part->clear();
        if (table.keep(*part))
            ++kept;
        else
            delete part;
    }
    EXPECT_GT(kept, 0U);
    EXPECT_LT(kept, parts.size());
    EXPECT_EQ(table.size(), 0U);
}

// Many live at once, then few: the lists become more in between.
TEST(part_table, it_has_what_a_map_has) {
    std::mt19937 random(11); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
    part_table table(nullptr);
    std::map<name, finish_part*> model;
    std::uint64_t epochs = 0;
    for (int step = 0; step < 40'000; ++step) {
        name const of{static_cast<rank>(random() % 4), 16'384 * (1 + random() % 2'000) + 64};
        auto const there = model.find(of);
        ASSERT_EQ(table.find(of.first, of.second), there == model.end() ? nullptr : there->second);
        bool const grows = step < 20'000;
        if (there == model.end()) {
            if (grows || random() % 8 == 0)
                model.emplace(of, &table.begin(of.first, of.second, ++epochs, 0));
        } else if (!grows || random() % 8 == 0) {
            end(table, *there->second);
            model.erase(there);
        }
        ASSERT_EQ(table.size(), model.size());
    }
    std::map<name, finish_part const*> found;
    table.for_each([&found](finish_part const& part) {
        found.emplace(name{part.home, part.root}, &part);
    });
    EXPECT_TRUE(std::equal(
        found.begin(), found.end(), model.begin(), model.end(),
        [](auto const& a, auto const& b) { return a.first == b.first && a.second == b.second; }));
    for (auto const& [of, part] : model) EXPECT_EQ(table.find(of.first, of.second), part);
}

} // namespace

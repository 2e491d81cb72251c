// SPDX-License-Identifier: Apache-2.0
#include "gmem/segments.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace {

using tulle::gmem::rank;
using tulle::gmem::segments;

constexpr std::uint64_t k_begin = 0x10000;
constexpr std::uint64_t k_segment = 0x3000;

TEST(segments, each_address_has_one_place) {
    segments const table(k_begin, k_segment, 5);
    for (std::uint64_t at = 0; at < 5 * k_segment; at += 0x10)
        EXPECT_EQ(table.place_of(k_begin + at), at / k_segment);
    for (rank r = 0; r < 5; ++r) {
        EXPECT_EQ(table.place_of(table.begin_of(r)), r);
        EXPECT_EQ(table.place_of(table.begin_of(r + 1) - 1), r);
    }
}

TEST(segments, contain_what_lies_between_both_ends) {
    segments const table(k_begin, k_segment, 2);
    EXPECT_TRUE(table.contains(k_begin, 2 * k_segment));
    EXPECT_TRUE(table.contains(k_begin + 2 * k_segment, 0));
    EXPECT_TRUE(table.contains(k_begin + k_segment - 1, 2));
    EXPECT_FALSE(table.contains(k_begin - 1, 1));
    EXPECT_FALSE(table.contains(k_begin + 1, 2 * k_segment));
    EXPECT_FALSE(table.contains(k_begin + 2 * k_segment, 1));
    EXPECT_FALSE(table.contains(k_begin, ~std::uint64_t{0}));
    EXPECT_FALSE(table.contains(~std::uint64_t{0}, 1));
    EXPECT_FALSE(segments().contains(k_begin, 1));
}

TEST(segments, cut_a_range_where_the_place_changes) {
    segments const table(k_begin, k_segment, 4);
    std::vector<std::tuple<rank, std::uint64_t, std::uint64_t>> parts;
    table.for_each_part(k_begin + k_segment - 1, k_segment + 3,
                        [&](rank at, std::uint64_t address, std::uint64_t bytes) {
                            parts.emplace_back(at, address - k_begin, bytes);
                        });
    EXPECT_EQ(parts, (std::vector<std::tuple<rank, std::uint64_t, std::uint64_t>>{
                         {0, k_segment - 1, 1}, {1, k_segment, k_segment}, {2, 2 * k_segment, 2}}));
    table.for_each_part(k_begin, 0, [](rank, std::uint64_t, std::uint64_t) { ADD_FAILURE(); });
}

} // namespace

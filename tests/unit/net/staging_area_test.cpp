// SPDX-License-Identifier: Apache-2.0
#include "base/rng.hpp"
#include "net/staging_area.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace tulle::net {
namespace {

constexpr std::size_t k_block = staging_area::k_block;
constexpr std::size_t k_skew = 1024; // of each piece in its first block
constexpr std::size_t k_whole = k_block - k_skew;

TEST(staging_area, gives_the_lowest_that_is_free) {
    std::vector<std::byte> memory(4 * k_block);
    staging_area area(memory.data(), memory.size());
    std::byte* const a = area.take(1, 1);
    std::byte* const b = area.take(1, k_whole + 1);
    EXPECT_EQ(a, memory.data() + k_skew);
    EXPECT_EQ(b, a + k_block);
    area.give_back(a);
    EXPECT_EQ(area.take(1, k_whole), a);
    EXPECT_EQ(area.take(1, k_whole + 1), nullptr);
    EXPECT_EQ(area.take(1, k_whole), a + 3 * k_block);
    EXPECT_EQ(area.take(1, 1), nullptr);
}

TEST(staging_area, joins_what_is_free) {
    std::vector<std::byte> memory(3 * k_block);
    staging_area area(memory.data(), memory.size());
    std::byte* const a = area.take(1, 1);
    std::byte* const b = area.take(1, 1);
    std::byte* const c = area.take(1, 1);
    area.give_back(b);
    area.give_back(a);
    EXPECT_FALSE(area.is_all_free());
    EXPECT_EQ(area.take(1, k_block + k_whole), a);
    area.give_back(a);
    area.give_back(c);
    EXPECT_TRUE(area.is_all_free());
    EXPECT_EQ(area.take(1, 2 * k_block + k_whole), a);
}

TEST(staging_area, refuses_nothing_and_too_much) {
    std::vector<std::byte> memory(2 * k_block);
    staging_area area(memory.data(), memory.size());
    EXPECT_EQ(area.take(1, 0), nullptr);
    EXPECT_EQ(area.take(1, k_block + k_whole + 1), nullptr);
    EXPECT_EQ(area.take(1, ~std::size_t{0}), nullptr);
    staging_area none(nullptr, 0);
    EXPECT_EQ(none.take(1, 1), nullptr);
    EXPECT_TRUE(none.is_all_free());
}

TEST(staging_area, keeps_what_the_dead_were_to_read) {
    std::vector<std::byte> memory(4 * k_block);
    staging_area area(memory.data(), memory.size());
    std::byte* const a = area.take(1, 1);
    std::byte* const b = area.take(2, 1);
    std::byte* const c = area.take(1, 1);
    area.lose(1);
    EXPECT_EQ(area.take(1, 1), nullptr) << "it would not give it back";
    std::byte* const d = area.take(3, k_whole);
    EXPECT_EQ(d, c + k_block) << "somebody may still write into a, b and c";
    EXPECT_EQ(area.take(3, 1), nullptr);
    area.give_back(a);
    EXPECT_EQ(area.take(3, k_whole), a);
    for (std::byte* const each : {a, b, c, d}) area.give_back(each);
    EXPECT_TRUE(area.is_all_free());
}

// Each piece is filled with its own byte, which must still be there when it is given back.
TEST(staging_area, pieces_never_overlap) {
    std::vector<std::byte> memory(64 * k_block);
    staging_area area(memory.data(), memory.size());
    base::rng random(17);
    std::map<std::byte*, std::pair<std::size_t, std::byte>> held;
    for (int step = 0; step < 5000; ++step) {
        if (random.below(2) == 0) {
            std::size_t const bytes = 1 + random.below(12 * k_block);
            if (std::byte* const piece = area.take(1, bytes); piece != nullptr) {
                ASSERT_TRUE(piece >= memory.data() &&
                            piece + bytes <= memory.data() + memory.size());
                auto const mark = static_cast<std::byte>(step);
                std::memset(piece, static_cast<int>(mark), bytes);
                ASSERT_TRUE(held.emplace(piece, std::pair(bytes, mark)).second);
            }
        } else if (!held.empty()) {
            auto const which =
                std::next(held.begin(), random.below(static_cast<std::uint32_t>(held.size())));
            auto const [bytes, mark] = which->second;
            for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(which->first[k], mark) << step;
            area.give_back(which->first);
            held.erase(which);
        }
    }
    for (auto const& [piece, unused] : held) area.give_back(piece);
    EXPECT_TRUE(area.is_all_free());
}

} // namespace
} // namespace tulle::net

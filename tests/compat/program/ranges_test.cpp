// SPDX-License-Identifier: Apache-2.0
#include "compat/program/ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using tulle::program::joined;
using tulle::program::ranges;
using tulle::program::without;

constexpr std::size_t k_addresses = 64;
using bits = std::vector<bool>;

ranges some_ranges(std::minstd_rand& random) {
    ranges any;
    for (unsigned k = random() % 8; k > 0; --k) {
        std::uint64_t const begin = random() % k_addresses;
        any.push_back({begin, std::min<std::uint64_t>(begin + random() % 10, k_addresses)});
    }
    return any;
}

bits bits_of(ranges const& all) {
    bits found(k_addresses);
    for (auto const& r : all)
        for (std::uint64_t at = r.begin; at < r.end; ++at) found[at] = true;
    return found;
}

void expect_in_order(ranges const& all) {
    for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_LT(all[k].begin, all[k].end);
        if (k > 0) {
            EXPECT_LE(all[k - 1].end, all[k].begin);
        }
    }
}

TEST(ranges, are_sets_of_addresses) {
    for (unsigned seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE(seed);
        std::minstd_rand random(seed);
        ranges const a = some_ranges(random);
        ranges const b = some_ranges(random);
        ranges const all = joined(a);
        ranges const rest = without(all, joined(b));
        expect_in_order(all);
        expect_in_order(rest);
        bits expected = bits_of(a);
        ASSERT_EQ(bits_of(all), expected);
        bits const others = bits_of(b);
        for (std::size_t at = 0; at < k_addresses; ++at) expected[at] = expected[at] && !others[at];
        ASSERT_EQ(bits_of(rest), expected);
    }
}

} // namespace

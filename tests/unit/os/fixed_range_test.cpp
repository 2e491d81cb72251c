// SPDX-License-Identifier: Apache-2.0
#include "os/fixed_range.hpp"

#include "emulated.hpp"
#include "os/shared_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tulle::os {
namespace {

constexpr std::size_t k_range_bytes = std::size_t{1} << 20U;

TEST(fixed_range, is_reserved_where_it_is_asked_for) {
    auto const range = fixed_range::reserve(fixed_range::usual_address(), k_range_bytes);
    ASSERT_TRUE(range.is_valid()) << errno;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.low()), fixed_range::usual_address());
    EXPECT_EQ(range.size(), k_range_bytes);
}

TEST(fixed_range, may_lie_below_4_gib) {
    auto const range = fixed_range::reserve(fixed_range::low_address(), k_range_bytes);
    ASSERT_TRUE(range.is_valid()) << errno;
    EXPECT_LE(reinterpret_cast<std::uintptr_t>(range.low()) + k_range_bytes, UINT32_MAX);
}

TEST(fixed_range, is_refused_where_something_is) {
    auto const range = fixed_range::reserve(fixed_range::usual_address(), k_range_bytes);
    ASSERT_TRUE(range.is_valid());
    errno = 0;
    EXPECT_FALSE(
        fixed_range::reserve(fixed_range::usual_address() + k_range_bytes / 2, k_range_bytes)
            .is_valid());
    EXPECT_EQ(errno, EEXIST);
}

TEST(fixed_range, gives_its_addresses_back) {
    for (int round = 0; round < 3; ++round) {
        auto range = fixed_range::reserve(fixed_range::usual_address(), k_range_bytes);
        ASSERT_TRUE(range.is_valid()) << round;
        fixed_range const moved(std::move(range));
        EXPECT_TRUE(moved.is_valid());
    }
}

TEST(fixed_range, is_filled_with_zeros) {
    auto range = fixed_range::reserve(0, k_range_bytes);
    ASSERT_TRUE(range.is_valid());
    ASSERT_TRUE(range.fill(k_range_bytes / 2, k_range_bytes / 4));
    EXPECT_EQ(std::count(range.low() + k_range_bytes / 2, range.low() + 3 * k_range_bytes / 4,
                         std::byte{0}),
              static_cast<long>(k_range_bytes / 4));
    range.low()[k_range_bytes / 2] = std::byte{1};
}

TEST(fixed_range, shares_a_file) {
    auto const file = shared_file::create("fixed-range-test");
    ASSERT_TRUE(file.is_open());
    ASSERT_TRUE(file.grow(k_range_bytes));
    auto one = fixed_range::reserve(0, k_range_bytes);
    auto two = fixed_range::reserve(0, k_range_bytes);
    ASSERT_TRUE(one.fill_from(file.number(), 0, k_range_bytes));
    ASSERT_TRUE(two.fill_from(file.number(), k_range_bytes / 2, k_range_bytes / 2));
    one.low()[k_range_bytes - 1] = std::byte{7};
    EXPECT_EQ(two.low()[k_range_bytes - 1], std::byte{7});
}

TEST(fixed_range, is_mapped_again_over_other_memory) {
    TULLE_SKIP_IF_EMULATED("it refuses to move a range of no bytes");
    auto const file = shared_file::create("tulle-test");
    ASSERT_TRUE(file.is_open() && file.grow(k_range_bytes));
    auto shared = fixed_range::reserve(0, k_range_bytes);
    ASSERT_TRUE(shared.fill_from(file.number(), 0, k_range_bytes));
    auto own = fixed_range::reserve(0, k_range_bytes);
    ASSERT_TRUE(own.fill(0, k_range_bytes));
    std::size_t const half = k_range_bytes / 2;
    own.low()[half] = std::byte{1};
    shared.low()[half] = std::byte{2};
    ASSERT_TRUE(map_again(shared.low() + half, own.low() + half, half));
    EXPECT_EQ(own.low()[half], std::byte{2});
    own.low()[k_range_bytes - 1] = std::byte{3};
    EXPECT_EQ(shared.low()[k_range_bytes - 1], std::byte{3});
    own.low()[0] = std::byte{4}; // in front of it
    EXPECT_EQ(shared.low()[0], std::byte{0});
}

TEST(fixed_range, of_impossible_size_is_refused) {
    EXPECT_FALSE(fixed_range::reserve(0, ~std::size_t{0} / 2).is_valid());
    EXPECT_EQ(errno, ENOMEM);
}

} // namespace
} // namespace tulle::os

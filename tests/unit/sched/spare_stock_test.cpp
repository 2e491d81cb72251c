// SPDX-License-Identifier: Apache-2.0
#include "sched/stacks/spare_stock.hpp"

#include <array>

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

struct one_spare : runnable {
    one_spare() : runnable(runnable_kind::fiber) {}
};

struct spare_stock_test : ::testing::Test {
    void put(std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) stock.put(spares[k]);
    }

    std::array<one_spare, 70> spares;
    shared_spares shared;
    spare_stock stock;
};

TEST_F(spare_stock_test, is_empty_at_first) {
    EXPECT_TRUE(stock.empty());
    EXPECT_FALSE(stock.has_reserve());
    EXPECT_EQ(stock.take_reserve(), nullptr);
}

TEST_F(spare_stock_test, last_in_first_out) {
    put(2);
    EXPECT_EQ(stock.size(), 2);
    EXPECT_EQ(&stock.take(), &spares[1]);
    EXPECT_EQ(&stock.take(), &spares[0]);
    EXPECT_TRUE(stock.empty());
}

TEST_F(spare_stock_test, gives_half_away_when_it_is_full) {
    put(64);
    EXPECT_FALSE(stock.is_full());
    stock.put(spares[64]);
    EXPECT_TRUE(stock.is_full());
    stock.share(shared);
    EXPECT_EQ(stock.size(), 32);
    EXPECT_EQ(shared.size_hint(), 33U);
}

TEST_F(spare_stock_test, keeps_one_where_stacks_are_few) {
    stock.keep_one();
    put(1);
    EXPECT_FALSE(stock.is_full());
    stock.put(spares[1]);
    EXPECT_TRUE(stock.is_full());
    stock.share(shared);
    EXPECT_EQ(stock.size(), 1);
    EXPECT_EQ(shared.pop(), &spares[1]);
}

TEST_F(spare_stock_test, the_reserve_is_no_spare) {
    stock.set_reserve(spares[0]);
    EXPECT_TRUE(stock.empty());
    EXPECT_TRUE(stock.has_reserve());
    stock.keep_one();
    stock.share(shared);
    EXPECT_EQ(shared.size_hint(), 0U) << "nobody else may take it";
    EXPECT_EQ(stock.take_reserve(), &spares[0]);
    EXPECT_FALSE(stock.has_reserve());
}

TEST_F(spare_stock_test, the_reserve_is_refilled_when_another_spare_is_left) {
    put(1);
    stock.refill_reserve();
    EXPECT_FALSE(stock.has_reserve());
    stock.put(spares[1]);
    stock.refill_reserve();
    EXPECT_EQ(stock.size(), 1);
    stock.put(spares[2]);
    stock.refill_reserve();
    EXPECT_EQ(stock.size(), 2) << "there was a reserve";
    EXPECT_EQ(stock.take_reserve(), &spares[1]);
}

} // namespace

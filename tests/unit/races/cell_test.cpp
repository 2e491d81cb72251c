// SPDX-License-Identifier: Apache-2.0
#include "races/cell.hpp"

#include <gtest/gtest.h>

namespace tulle::races {
namespace {

constexpr access k_load{1, 5, 0, 3, false, false, 7};

access with(access a, process_number p) {
    a.process = p;
    return a;
}
access storing(access a) {
    a.stores = true;
    return a;
}
access atomically(access a) {
    a.is_atomic = true;
    return a;
}
access of_bytes(access a, std::uint32_t first, std::uint32_t last) {
    a.first = first;
    a.last = last;
    return a;
}

TEST(cell, holds_each_part) {
    access const a{k_most_processes - 1, k_last_epoch, 2, 7, true, true, (1U << k_site_bits) - 1};
    cell const c(a);
    EXPECT_EQ(c.process(), a.process);
    EXPECT_EQ(c.when(), a.when);
    EXPECT_EQ(c.first(), a.first);
    EXPECT_EQ(c.last(), a.last);
    EXPECT_EQ(c.stores(), a.stores);
    EXPECT_EQ(c.is_atomic(), a.is_atomic);
    EXPECT_EQ(c.where(), a.where);
    EXPECT_FALSE(c.is_empty());
    EXPECT_TRUE(cell().is_empty());
    EXPECT_FALSE(cell(access{0, 0, 0, 0, false, false, 0}).is_empty());
}

TEST(cell, conflicts_of_two_processes_that_touch_the_same_bytes) {
    cell const load(k_load);
    cell const store(storing(with(k_load, 2)));
    EXPECT_TRUE(load.conflicts_with(store));
    EXPECT_TRUE(store.conflicts_with(load));
    EXPECT_FALSE(load.conflicts_with(cell(with(k_load, 2)))) << "two loads";
    EXPECT_FALSE(load.conflicts_with(cell(storing(k_load)))) << "one process";
    EXPECT_FALSE(store.conflicts_with(cell(of_bytes(k_load, 4, 7)))) << "beside each other";
    EXPECT_TRUE(store.conflicts_with(cell(of_bytes(k_load, 3, 7))));
    cell const atomic(atomically(storing(k_load)));
    EXPECT_TRUE(atomic.conflicts_with(store));
    EXPECT_FALSE(atomic.conflicts_with(cell(atomically(storing(with(k_load, 2))))));
}

TEST(cell, covers_what_is_weaker_and_smaller) {
    cell const load(k_load);
    cell const store(storing(k_load));
    EXPECT_TRUE(store.covers(load));
    EXPECT_FALSE(load.covers(store));
    EXPECT_TRUE(load.covers(cell(of_bytes(k_load, 1, 2))));
    EXPECT_FALSE(load.covers(cell(of_bytes(k_load, 1, 4))));
    EXPECT_TRUE(load.covers(cell(atomically(k_load))));
    EXPECT_FALSE(cell(atomically(k_load)).covers(load));
}

} // namespace
} // namespace tulle::races

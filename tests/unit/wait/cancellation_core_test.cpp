// SPDX-License-Identifier: Apache-2.0
#include "os/machine.hpp"
#include "wait/cancellation_core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

using namespace tulle;
using core = wait::cancellation_core<os::machine>;

struct counting : core::node {
    counting() noexcept {
        cancel = [](core::node& n) noexcept { ++static_cast<counting&>(n).times; };
    }
    int times = 0;
};

TEST(cancellation_core, cancels_each_once_however_many) {
    core token;
    std::vector<counting> nodes(1000);
    for (counting& n : nodes) token.insert(n);
    EXPECT_TRUE(token.has_nodes());
    EXPECT_TRUE(token.request());
    EXPECT_FALSE(token.has_nodes());
    EXPECT_TRUE(
        std::all_of(nodes.begin(), nodes.end(), [](counting const& n) { return n.times == 1; }));
    EXPECT_FALSE(token.request());
}

TEST(cancellation_core, removes_from_any_place) {
    core token;
    std::vector<counting> nodes(4);
    for (counting& n : nodes) token.insert(n);
    // In the middle, the first, the last.
    for (std::size_t const k : {1U, 3U, 0U}) token.remove(nodes[k]);
    EXPECT_TRUE(token.request());
    for (std::size_t k = 0; k < nodes.size(); ++k) EXPECT_EQ(nodes[k].times, k == 2 ? 1 : 0) << k;
}

TEST(cancellation_core, cancels_at_once_what_comes_later) {
    core token;
    counting late;
    EXPECT_TRUE(token.request());
    token.insert(late);
    EXPECT_EQ(late.times, 1);
    EXPECT_FALSE(token.has_nodes());
}

// A waiter whose wait was cancelled removes its node; its neighbours' frames may be gone by then.
TEST(cancellation_core, remove_touches_no_neighbour_after_the_request) {
    core token;
    std::vector<counting> nodes(3);
    for (counting& n : nodes) token.insert(n);
    EXPECT_TRUE(token.request());
    counting elsewhere;
    for (counting& n : nodes) {
        n.after.store(&elsewhere);
        n.before.store(&elsewhere);
    }
    for (counting& n : nodes) token.remove(n);
    for (counting const& n : nodes)
        EXPECT_TRUE(n.after.load() == &elsewhere && n.before.load() == &elsewhere);
    EXPECT_TRUE(elsewhere.after.load() == nullptr && elsewhere.before.load() == nullptr);
    EXPECT_FALSE(token.has_nodes());
}

} // namespace

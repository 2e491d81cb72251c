// SPDX-License-Identifier: Apache-2.0
#include "diag/wait_graph.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using diag::wait_graph;

void add(wait_graph& graph, thread_id id, thread_id holder, thread_id outer = 0) {
    sched::thread_view seen;
    seen.id = id;
    if (outer != 0) seen.outer[seen.outer_count++] = outer;
    graph.add(seen, {id, {wait::wait_kind::spawned_thread, nullptr}, {holder}, nullptr});
}

TEST(wait_graph, a_chain_is_no_circle) {
    wait_graph graph(*std::pmr::get_default_resource());
    add(graph, 1, 2);
    add(graph, 2, 3);
    add(graph, 3, 0);
    add(graph, 4, 99); // waits for one that is not there
    EXPECT_TRUE(graph.circles(8).empty());
}

TEST(wait_graph, circles_are_found_once_and_without_what_leads_to_them) {
    wait_graph graph(*std::pmr::get_default_resource());
    add(graph, 1, 2);
    add(graph, 2, 3);
    add(graph, 3, 2);
    add(graph, 4, 2);
    add(graph, 5, 5);
    auto const circles = graph.circles(8);
    ASSERT_EQ(circles.size(), 2U);
    ASSERT_EQ(circles[0].size(), 2U);
    EXPECT_EQ(circles[0][0].id, 2U);
    EXPECT_EQ(circles[0][1].id, 3U);
    ASSERT_EQ(circles[1].size(), 1U);
    EXPECT_EQ(circles[1][0].id, 5U);
}

TEST(wait_graph, a_thread_that_its_joiner_runs_makes_that_one_wait) {
    wait_graph graph(*std::pmr::get_default_resource());
    add(graph, 1, 2);
    add(graph, 3, 1, 2); // runs in the place of 2
    EXPECT_EQ(graph.circles(8).size(), 1U);
}

TEST(wait_graph, holders_are_known_by_their_stacks) {
    wait_graph graph(*std::pmr::get_default_resource());
    int stacks[3] = {};
    for (std::size_t k = 0; k < 2; ++k) {
        sched::thread_view seen; // a forked thread without a number
        seen.stands_on = &stacks[k];
        graph.add(seen, {0, {wait::wait_kind::owned_mutex, nullptr}, {0, &stacks[1 - k]}, nullptr});
    }
    sched::thread_view beside;
    beside.id = 5;
    beside.stands_on = &stacks[2];
    graph.add(beside, {5, {wait::wait_kind::owned_mutex, nullptr}, {0, &stacks[0]}, nullptr});
    auto const circles = graph.circles(8);
    ASSERT_EQ(circles.size(), 1U);
    EXPECT_EQ(circles[0].size(), 2U);
}

TEST(wait_graph, forked_threads_are_known_by_their_records) {
    wait_graph graph(*std::pmr::get_default_resource());
    detail::record slot{};
    sched::thread_view child;
    child.stolen = &slot;
    graph.add(child, {0, {wait::wait_kind::mutex, nullptr}, {7}, nullptr});
    sched::thread_view parent;
    parent.id = 7;
    graph.add(parent, {7, {wait::wait_kind::stolen_child, &slot.state}, {}, &slot.state});
    ASSERT_EQ(graph.circles(8).size(), 1U);
}

TEST(wait_graph, no_more_circles_than_asked_for) {
    wait_graph graph(*std::pmr::get_default_resource());
    for (thread_id id = 1; id <= 10; ++id) add(graph, id, id);
    EXPECT_EQ(graph.circles(3).size(), 3U);
}

} // namespace

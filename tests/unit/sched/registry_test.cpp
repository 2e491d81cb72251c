// SPDX-License-Identifier: Apache-2.0
// Workers and shepherds that are never started.
#include "sched/registry.hpp"
#include "sched/scheduler.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using namespace tulle::sched;

os::topology machine_of(std::vector<std::vector<int>> const& groups) {
    os::topology made;
    for (auto const& cpus : groups) made.groups.push_back({cpus});
    return made;
}

struct registry_test : ::testing::Test {
    worker& add(shepherd* home = nullptr) {
        return made.add(scheduler::instance(), worker_kind::dedicated, true, home);
    }
    shepherd& at(std::size_t index) { return *made.shepherds()[index]; }

    registry made;
};

TEST_F(registry_test, has_a_shepherd_for_each_group) {
    made.open(machine_of({{0, 1}, {2, 3}}), {.workers = 4, .most_workers = 4});
    ASSERT_EQ(made.shepherds().size(), 2U);
    EXPECT_EQ(at(0).cpus, (std::vector<int>{0, 1}));
    EXPECT_EQ(at(1).cpus, (std::vector<int>{2, 3}));
    EXPECT_EQ(at(1).first_cpu, 2);
    EXPECT_EQ(at(1).index, 1);
}

TEST_F(registry_test, never_has_more_shepherds_than_workers) {
    made.open(machine_of({{0}, {1}, {2}, {3}}), {.workers = 2, .most_workers = 2});
    ASSERT_EQ(made.shepherds().size(), 2U);
    EXPECT_EQ(at(0).cpus, (std::vector<int>{0, 1}));
    EXPECT_EQ(at(1).cpus, (std::vector<int>{2, 3}));
}

TEST_F(registry_test, workers_go_where_most_processors_are_free) {
    made.open(machine_of({{0}, {1, 2, 3}}), {.workers = 4, .most_workers = 4});
    for (int k = 0; k < 4; ++k) static_cast<void>(add());
    EXPECT_EQ(at(0).workers.size(), 1U);
    EXPECT_EQ(at(1).workers.size(), 3U);
}

TEST_F(registry_test, workers_go_to_the_shepherds_in_turn_where_that_is_asked_for) {
    made.open(machine_of({{0}, {1, 2, 3}}),
              {.workers = 4, .most_workers = 4, .deals_evenly = true});
    for (int k = 0; k < 4; ++k) EXPECT_EQ(add().home, &at(static_cast<std::size_t>(k % 2)));
}

TEST_F(registry_test, others_find_what_was_added) {
    made.open(machine_of({{0}, {1}}), {.workers = 2, .most_workers = 3});
    worker& first = add(&at(1));
    worker& second = add();
    EXPECT_EQ(first.home, &at(1));
    EXPECT_EQ(second.home, &at(0));
    ASSERT_EQ(made.workers().size(), 2U);
    EXPECT_EQ(made.workers()[0], &first);
    EXPECT_EQ(made.workers()[1]->index, 1);
    EXPECT_EQ(&made.core_of(*made.workers()[1]), &second);
    EXPECT_EQ(second.local_number, 2U);
    EXPECT_EQ(second.seen.size(), 3U);
}

TEST_F(registry_test, a_cpu_goes_back_to_the_shepherd_that_had_it) {
    made.open(machine_of({{0, 1}, {2, 3}}), {.workers = 4, .most_workers = 4});
    made.assign({0, 2, 7});
    EXPECT_EQ(at(0).cpus.size() + at(1).cpus.size(), 3U);
    EXPECT_EQ(at(0).cpus.front(), 0);
    EXPECT_EQ(at(1).cpus.front(), 2);
    made.assign({0, 1, 2, 3});
    EXPECT_EQ(at(0).cpus, (std::vector<int>{0, 1}));
    EXPECT_EQ(at(1).cpus, (std::vector<int>{2, 3}));
}

TEST_F(registry_test, a_shepherd_without_a_cpu_may_use_all) {
    made.open(machine_of({{0, 1}, {2, 3}}), {.workers = 4, .most_workers = 4});
    made.assign({1});
    EXPECT_EQ(at(0).cpus, (std::vector<int>{1}));
    EXPECT_EQ(at(1).cpus, (std::vector<int>{1}));
}

TEST_F(registry_test, what_is_left_behind_stays_as_it_was) {
    made.open(machine_of({{0}}), {.workers = 1, .most_workers = 1});
    worker const& left = add();
    auto const kept = made.leave_behind();
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(made.workers().size(), 0U);
    EXPECT_TRUE(made.shepherds().empty());
    EXPECT_EQ(kept->workers()[0], &left);
    made.open(machine_of({{0}, {1}}), {.workers = 2, .most_workers = 2});
    EXPECT_EQ(add().index, 0);
}

TEST_F(registry_test, is_opened_again_after_it_was_cleared) {
    for (int round = 0; round < 2; ++round) {
        made.open(machine_of({{0}, {1}}), {.workers = 2, .most_workers = 2});
        static_cast<void>(add());
        static_cast<void>(add());
        EXPECT_EQ(made.workers().size(), 2U);
        made.clear();
        EXPECT_EQ(made.workers().size(), 0U);
        EXPECT_TRUE(made.shepherds().empty());
    }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "faked_cgroup.hpp"
#include "os/topology.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace {

using namespace tulle::os;

TEST(topology, groups_partition_the_affinity_mask) {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    auto const machine = discover();
    std::set<int> seen;
    for (auto const& group : machine.groups) {
        EXPECT_FALSE(group.cpus.empty());
        EXPECT_TRUE(std::is_sorted(group.cpus.begin(), group.cpus.end()));
        for (int const cpu : group.cpus) {
            EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(cpu), &set));
            EXPECT_TRUE(seen.insert(cpu).second) << "CPU " << cpu << " is in two groups";
        }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), machine.allowed_cpus);
    EXPECT_EQ(CPU_COUNT(&set), machine.allowed_cpus);
    EXPECT_GE(machine.default_workers, 1);
    EXPECT_LE(machine.default_workers, machine.allowed_cpus);
    EXPECT_NE(machine.description.find("allowed"), std::string::npos);
}

TEST(topology, undivided_is_the_affinity_mask_in_one_group) {
    std::vector<int> all;
    for (auto const& group : discover().groups)
        all.insert(all.end(), group.cpus.begin(), group.cpus.end());
    std::sort(all.begin(), all.end());
    auto const flat = undivided();
    ASSERT_EQ(flat.groups.size(), 1U);
    EXPECT_EQ(flat.groups.front().cpus, all);
    EXPECT_EQ(flat.default_workers, 1);
}

TEST(topology, a_cpu_that_is_set_aside_is_in_no_group) {
    topology machine;
    machine.groups = {{{4, 5}}, {{7}}};
    machine.allowed_cpus = machine.default_workers = 3;
    machine.machine_cpus = 8;
    topology const before = machine;
    EXPECT_FALSE(set_aside(machine, 3));
    EXPECT_EQ(machine.reserved_cpu, -1);
    ASSERT_TRUE(set_aside(machine, 1));
    ASSERT_EQ(machine.groups.size(), 2U);
    EXPECT_EQ(machine.groups[0].cpus, std::vector<int>{4});
    EXPECT_EQ((std::array{machine.reserved_cpu, machine.allowed_cpus, machine.default_workers,
                          machine.machine_cpus}),
              (std::array{5, 2, 2, 8}));
    machine = before;
    ASSERT_TRUE(set_aside(machine, 2)); // a group of its own
    ASSERT_EQ(machine.groups.size(), 1U);
    EXPECT_EQ(machine.groups[0].cpus, (std::vector<int>{4, 5}));
}

TEST(topology, a_cpu_that_is_set_aside_uses_the_quota) {
    topology machine;
    machine.groups = {{{0, 1, 2, 3}}};
    machine.allowed_cpus = 4;
    machine.quota_cpus = 2;
    machine.default_workers = 2;
    ASSERT_TRUE(set_aside(machine, 0));
    EXPECT_EQ(machine.default_workers, 1);
}

TEST(topology, the_only_cpu_is_not_set_aside) {
    topology machine;
    machine.groups = {{{3}}};
    EXPECT_FALSE(set_aside(machine, 0));
    EXPECT_EQ(machine.groups[0].cpus, std::vector<int>{3});
}

TEST(topology, narrows_with_the_mask) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    std::size_t last = 0;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        last = CPU_ISSET(cpu, &before) ? cpu : last;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    auto const machine = discover();
    sched_setaffinity(0, sizeof before, &before);
    ASSERT_EQ(machine.groups.size(), 1U);
    EXPECT_EQ(machine.groups[0].cpus, std::vector<int>{static_cast<int>(last)});
}

TEST(topology, quota_is_said_and_obeyed) {
    faked_cgroup group("50000");
    auto machine = discover(group.files());
    EXPECT_EQ(machine.quota_cpus, 0.5);
    EXPECT_EQ(machine.default_workers, 1);
    EXPECT_NE(machine.description.find("a quota of 0.50 CPUs"), std::string::npos);
    group.set("max");
    machine = discover(group.files());
    EXPECT_EQ(machine.default_workers, machine.allowed_cpus);
    EXPECT_GE(machine.machine_cpus, machine.allowed_cpus);
    EXPECT_NE(machine.description.find("no quota"), std::string::npos);
}

TEST(topology, looks_again_at_the_mask_of_the_first_thread) {
    faked_cgroup const group("150000");
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    allowance found;
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0); // of this thread
        found = read_allowance(group.files());
    }).join();
    EXPECT_EQ(static_cast<int>(found.cpus.size()), CPU_COUNT(&set));
    EXPECT_EQ(found.quota_cpus, 1.5);
}

TEST(topology, quota_rounds_up_to_whole_workers) {
    EXPECT_EQ(workers_for(8, 0), 8);
    EXPECT_EQ(workers_for(8, -1), 8);
    EXPECT_EQ(workers_for(8, 0.2), 1);
    EXPECT_EQ(workers_for(8, 1.0), 1);
    EXPECT_EQ(workers_for(8, 1.5), 2);
    EXPECT_EQ(workers_for(8, 100.0), 8);
    EXPECT_EQ(workers_for(8, 1e30), 8);
    EXPECT_EQ(workers_for(0, 0), 1);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>

#include "os/topology.hpp"

namespace {

using namespace tulle::os;

struct facts {
    std::string name;
    void* frame = nullptr;
    stack_bounds stack{};
};

void* look_around(void* argument)
{
    auto& found = *static_cast<facts*>(argument);
    found.frame = __builtin_frame_address(0);
    found.stack = current_stack();
    return argument;
}

TEST(thread, starts_and_returns_its_result)
{
    facts found;
    pthread_t thread{};
    ASSERT_EQ(start_thread(thread, "tulle-test-with-a-long-name", &look_around, &found), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, &found);
    auto const low = reinterpret_cast<std::uintptr_t>(found.stack.low);
    auto const frame = reinterpret_cast<std::uintptr_t>(found.frame);
    ASSERT_NE(low, 0U);
    EXPECT_GT(frame, low);
    EXPECT_LT(frame, low + found.stack.size);
}

TEST(thread, cuts_long_names)
{
    char before[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), before, sizeof before), 0);
    EXPECT_EQ(set_name(pthread_self(), "a-name-of-more-than-fifteen"), 0);
    char now[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), now, sizeof now), 0);
    EXPECT_STREQ(now, "a-name-of-more-");
    set_name(pthread_self(), before);
}

TEST(thread, pins_to_one_cpu_and_refuses_none)
{
    auto const machine = discover();
    int const cpu = machine.groups.front().cpus.front();
    ASSERT_EQ(pin_to(pthread_self(), {cpu}), 0);
    EXPECT_EQ(sched_getcpu(), cpu);
    auto const narrow = discover();
    EXPECT_EQ(narrow.allowed_cpus, 1);
    EXPECT_EQ(narrow.default_workers, 1);
    EXPECT_EQ(narrow.groups.size(), 1U);
    EXPECT_EQ(pin_to(pthread_self(), {}), EINVAL);
    std::vector<int> all;
    for (auto const& group : machine.groups) {
        all.insert(all.end(), group.cpus.begin(), group.cpus.end());
    }
    EXPECT_EQ(pin_to(pthread_self(), all), 0);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/thread.hpp"

#include <atomic>
#include <cerrno>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "os/topology.hpp"

namespace {

using namespace tulle::os;

void* note_identity(void* argument) {
    *static_cast<pthread_t*>(argument) = pthread_self();
    return argument;
}

TEST(thread, starts_and_returns_its_result) {
    pthread_t thread{};
    pthread_t seen{};
    ASSERT_EQ(start_thread(thread, "tulle-test-with-a-long-name", &note_identity, &seen), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, &seen);
    EXPECT_TRUE(pthread_equal(seen, thread));
}

TEST(thread, cuts_long_names) {
    char before[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), before, sizeof before), 0);
    EXPECT_EQ(set_name(pthread_self(), "a-name-of-more-than-fifteen"), 0);
    char now[16];
    ASSERT_EQ(pthread_getname_np(pthread_self(), now, sizeof now), 0);
    EXPECT_STREQ(now, "a-name-of-more-");
    set_name(pthread_self(), before);
}

TEST(thread, counts_the_others) {
    TULLE_SKIP_IF_EMULATED("its own threads are counted, too");
    int const before = other_threads();
    pthread_t thread{};
    std::atomic<bool> end{false};
    auto const wait_for_end = [](void* flag) -> void* {
        while (!static_cast<std::atomic<bool>*>(flag)->load(std::memory_order_relaxed)) sched_yield(); // relaxed: it orders nothing
        return nullptr;
    };
    ASSERT_EQ(start_thread(thread, "other", wait_for_end, &end), 0);
    EXPECT_EQ(other_threads(), before + 1);
    EXPECT_EQ(before, 0);
    end.store(true, std::memory_order_relaxed);
    pthread_join(thread, nullptr);
}

TEST(thread, pins_to_one_cpu_and_refuses_none) {
    auto const machine = discover();
    int const cpu = machine.groups.front().cpus.front();
    ASSERT_EQ(pin_to(pthread_self(), {&cpu, 1}), 0);
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

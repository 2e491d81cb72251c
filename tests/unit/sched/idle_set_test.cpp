// SPDX-License-Identifier: Apache-2.0
//
// In which order those are woken who may be asleep.
#include "park/idle_set.hpp"

#include "os/machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tulle {

namespace {

using names = std::vector<std::string>;

names s_woken;

// Only the watcher sleeps on a futex here.
struct recording_machine : os::machine {
    static void futex_wake(atomic<std::uint32_t>&, int) noexcept { s_woken.push_back("watcher"); }
};

struct recording_waker final : base::waker {
    void wake() noexcept override { s_woken.push_back("worker"); }
};

class order_of_wakes : public ::testing::Test {
protected:
    void SetUp() override { s_woken.clear(); }

    void go_to_sleep(park::sleeper<recording_machine>& self) {
        m_idle.begin_search();
        m_idle.announce(self);
        ASSERT_TRUE(m_idle.sleeps_elsewhere(self, &m_waker));
    }

    park::idle_set<recording_machine> m_idle;
    recording_waker m_waker;
};

// The thread that has something to run waits for one system call, not for two.
TEST_F(order_of_wakes, the_last_sleeper_comes_before_the_watcher) {
    park::sleeper<recording_machine> only;
    go_to_sleep(only);
    ASSERT_TRUE(m_idle.watch_sleepers());
    int work = 0;
    EXPECT_TRUE(m_idle.hand_over(&work));
    EXPECT_EQ(s_woken, (names{"worker", "watcher"}));
    EXPECT_EQ(m_idle.take_handoff(only), &work);
}

TEST_F(order_of_wakes, one_of_two_does_not_wake_the_watcher) {
    park::sleeper<recording_machine> first;
    park::sleeper<recording_machine> second;
    go_to_sleep(first);
    go_to_sleep(second);
    ASSERT_TRUE(m_idle.watch_sleepers());
    EXPECT_TRUE(m_idle.wake_one());
    EXPECT_EQ(s_woken, names{"worker"});
}

TEST_F(order_of_wakes, who_leaves_last_wakes_the_watcher) {
    park::sleeper<recording_machine> only;
    go_to_sleep(only);
    ASSERT_TRUE(m_idle.watch_sleepers());
    EXPECT_TRUE(m_idle.leave(only));
    EXPECT_EQ(s_woken, names{"watcher"});
}

} // namespace

} // namespace tulle

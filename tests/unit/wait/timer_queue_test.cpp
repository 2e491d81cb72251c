// SPDX-License-Identifier: Apache-2.0
#include "base/rng.hpp"
#include "runtime_fixture.hpp"
#include "wait/timer_queue.hpp"

#include <set>
#include <thread>
#include <vector>

namespace {

using namespace tulle;
using wait::k_never;
using wait::timer;
using wait::timer_queue;

std::vector<timer*>* g_fired = nullptr;
void note_firing(timer& t) noexcept { g_fired->push_back(&t); }

class timer_queue_test : public ::testing::Test {
protected:
    void SetUp() override { g_fired = &m_fired; }

    bool insert(timer& t, std::uint64_t deadline) {
        t.deadline = deadline;
        t.fire = &note_firing;
        return m_queue.insert(t);
    }

    timer_queue m_queue;
    std::vector<timer*> m_fired;
};

TEST_F(timer_queue_test, empty_queue_never_expires) {
    EXPECT_EQ(m_queue.next_deadline(), k_never);
    EXPECT_EQ(m_queue.expire(k_never - 1), 0U);
}

TEST_F(timer_queue_test, says_when_a_timer_is_the_first) {
    timer a, b, c;
    EXPECT_TRUE(insert(a, 20));
    EXPECT_FALSE(insert(b, 30));
    EXPECT_TRUE(insert(c, 10));
    EXPECT_EQ(m_queue.next_deadline(), 10U);
}

TEST_F(timer_queue_test, fires_what_is_due_in_order) {
    timer t[4];
    insert(t[0], 30);
    insert(t[1], 10);
    insert(t[2], 40);
    insert(t[3], 20);
    EXPECT_EQ(m_queue.expire(9), 0U);
    EXPECT_EQ(m_queue.expire(30), 3U);
    EXPECT_EQ(m_fired, (std::vector<timer*>{&t[1], &t[3], &t[0]}));
    EXPECT_EQ(m_queue.next_deadline(), 40U);
}

TEST_F(timer_queue_test, removed_timer_does_not_fire) {
    timer a, b;
    insert(a, 10);
    insert(b, 20);
    m_queue.remove(a);
    m_queue.remove(a); // without effect
    EXPECT_EQ(m_queue.next_deadline(), 20U);
    EXPECT_EQ(m_queue.expire(100), 1U);
    EXPECT_EQ(m_fired, (std::vector<timer*>{&b}));
    m_queue.remove(b);
}

TEST_F(timer_queue_test, agrees_with_an_ordered_set) {
    base::rng random(test_seed());
    std::vector<timer> timers(64);
    std::multiset<std::uint64_t> expected;
    for (int step = 0; step < 20000; ++step) {
        timer& t = timers[random.below(64)];
        if (!t.queued) {
            insert(t, random.below(1000));
            expected.insert(t.deadline);
        } else {
            m_queue.remove(t);
            expected.erase(expected.find(t.deadline));
        }
        ASSERT_EQ(m_queue.next_deadline(), expected.empty() ? k_never : *expected.begin());
    }
    EXPECT_EQ(m_queue.expire(1000), expected.size());
    EXPECT_TRUE(std::is_sorted(m_fired.begin(), m_fired.end(), [](timer* a, timer* b) { return a->deadline < b->deadline; }));
}

struct counted_timer : timer {
    std::atomic<int> firings{0};
    bool in_frame = true;
};
void count_firing(timer& t) noexcept {
    auto& c = static_cast<counted_timer&>(t);
    if (!c.in_frame) std::abort();
    c.firings.fetch_add(1, std::memory_order_relaxed);
}

TEST_F(timer_queue_test, nothing_fires_after_remove_has_returned) {
    std::atomic<bool> stop{false};
    std::thread clock([&] {
        for (std::uint64_t now = 0; !stop.load(std::memory_order_relaxed); ++now) m_queue.expire(now);
    });
    for (int round = 0; round < 20000; ++round) {
        counted_timer t;
        t.fire = &count_firing;
        t.deadline = static_cast<std::uint64_t>(round);
        static_cast<void>(m_queue.insert(t));
        m_queue.remove(t);
        t.in_frame = false;
        ASSERT_LE(t.firings.load(std::memory_order_relaxed), 1);
    }
    stop.store(true, std::memory_order_relaxed);
    clock.join();
}

} // namespace

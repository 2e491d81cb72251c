// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"
#include "wait/timer_queue.hpp"

#include <array>
#include <cstddef>
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

    bool insert(timer& t, std::uint64_t deadline, unsigned inserter = 0) {
        t.deadline = deadline;
        t.fire = &note_firing;
        return m_queue.insert(t, inserter);
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

TEST_F(timer_queue_test, says_when_a_timer_is_the_first_of_all_inserters) {
    timer a, b, c, d;
    EXPECT_TRUE(insert(a, 20, 0));
    EXPECT_FALSE(insert(b, 30, 1));
    EXPECT_TRUE(insert(c, 10, 2));
    EXPECT_FALSE(insert(d, 15, 3));
    m_queue.remove(c);
    EXPECT_EQ(m_queue.next_deadline(), 15U);
    EXPECT_EQ(m_queue.expire(40), 3U);
    EXPECT_EQ(m_queue.next_deadline(), k_never);
}

// Whatever slots they come through, which depends on when the run begins.
TEST_F(timer_queue_test, order_of_insertion_is_kept_among_equal_deadlines) {
    for (unsigned bit = 10; bit < 40; ++bit) {
        m_fired.clear();
        std::uint64_t const begin = (std::uint64_t{1} << bit) - 500;
        m_queue.start_at(begin, wait::timer_order::of_insertion);
        std::array<timer, 5> timers;
        for (timer& t : timers) insert(t, begin + 1'000'000);
        while (m_fired.size() < timers.size()) m_queue.expire(m_queue.next_deadline());
        for (std::size_t k = 0; k < timers.size(); ++k) EXPECT_EQ(m_fired[k], &timers[k]) << bit;
    }
}

// Also among many that are close to each other, for which the queue says a time that comes before
// all of them.
TEST_F(timer_queue_test, a_sleeper_that_is_told_never_sleeps_too_long) {
    for (std::uint64_t const base : {std::uint64_t{1} << 25U, std::uint64_t{1} << 40U}) {
        std::vector<timer> timers(20);
        std::uint64_t sleeps_until = m_queue.next_deadline();
        for (std::size_t k = 0; k < timers.size(); ++k) {
            if (insert(timers[k], base + 1'000'000 - 1'000 * k, static_cast<unsigned>(k % 2)))
                sleeps_until = m_queue.next_deadline();
            EXPECT_LE(sleeps_until, timers[k].deadline) << k;
        }
        m_queue.clear();
    }
}

timer_queue* g_queue = nullptr;
std::size_t g_fired_by_another = 0;
bool g_was_being_expired = false;
void look_from_elsewhere(timer& t) noexcept {
    g_was_being_expired = g_queue->is_being_expired(t.deadline);
    std::thread([&] { g_fired_by_another = g_queue->expire(t.deadline); }).join();
}

TEST_F(timer_queue_test, who_expires_does_not_wait_for_another_who_does) {
    timer a, b;
    insert(a, 20);
    insert(b, 20);
    a.fire = b.fire = &look_from_elsewhere;
    g_queue = &m_queue;
    EXPECT_FALSE(m_queue.is_being_expired(20));
    EXPECT_EQ(m_queue.expire(20), 2U);
    EXPECT_TRUE(g_was_being_expired);
    EXPECT_EQ(g_fired_by_another, 0U);
    EXPECT_EQ(m_queue.next_deadline(), k_never);
}

TEST_F(timer_queue_test, clear_forgets_those_of_all_inserters) {
    timer a, b;
    insert(a, 20, 0);
    insert(b, 30, 1);
    m_queue.clear();
    EXPECT_EQ(m_queue.next_deadline(), k_never);
    EXPECT_FALSE(a.queued || b.queued);
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
        for (std::uint64_t now = 0; !stop.load(std::memory_order_relaxed); ++now)
            m_queue.expire(now);
    });
    for (int round = 0; round < 20000; ++round) {
        counted_timer t;
        t.fire = &count_firing;
        t.deadline = static_cast<std::uint64_t>(round);
        static_cast<void>(m_queue.insert(t, static_cast<unsigned>(round)));
        m_queue.remove(t);
        t.in_frame = false;
        ASSERT_LE(t.firings.load(std::memory_order_relaxed), 1);
    }
    stop.store(true, std::memory_order_relaxed);
    clock.join();
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"
#include "sched/queues/ready_queue.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using sched::ready_queue;
using sched::runnable;
using sched::runnable_kind;
using sched::runnable_list;

// The queue looks at the context of fibers, so these are whole ones, whatever kind they pass for.
struct item : sched::fiber {
    explicit item(runnable_kind k = runnable_kind::fiber)
        : sched::fiber(sched::fiber_kind::pooled) {
        static_cast<runnable&>(*this).kind = k;
    }
    std::atomic<int> taken{0};
};

int length(runnable_list list) {
    int n = 0;
    while (list.pop_front() != nullptr) ++n;
    return n;
}

// With heavy fences, where the system has them, and without.
class ready_queue_test : public ::testing::TestWithParam<bool> {
protected:
    bool asymmetric() const { return GetParam() && os::membarrier_register(); }
    ready_queue m_queue{asymmetric()};
    std::uint32_t m_seen = 0;
    int m_visits = 0;
};
INSTANTIATE_TEST_SUITE_P(fences, ready_queue_test, ::testing::Bool(), [](auto const& fence) {
    return fence.param ? "asymmetric" : "symmetric";
});

TEST_P(ready_queue_test, owner_takes_the_oldest) {
    item a, b, c;
    m_queue.push_back(a);
    m_queue.push_back(b);
    m_queue.push_front(c);
    EXPECT_EQ(m_queue.size_hint(), 3U);
    EXPECT_EQ(m_queue.pop(), &c);
    EXPECT_EQ(m_queue.pop(), &a);
    EXPECT_EQ(m_queue.pop(), &b);
    EXPECT_EQ(m_queue.pop(), nullptr);
    EXPECT_TRUE(m_queue.looks_empty());
}

TEST_P(ready_queue_test, pop_if_leaves_the_other_kind_in_place) {
    item fiber, thread(runnable_kind::thread);
    m_queue.push_back(thread);
    m_queue.push_back(fiber);
    EXPECT_EQ(m_queue.pop_if(runnable_kind::fiber), nullptr);
    EXPECT_EQ(m_queue.pop_if(runnable_kind::thread), &thread);
    EXPECT_EQ(m_queue.pop_if(runnable_kind::fiber), &fiber);
}

TEST_P(ready_queue_test, thief_takes_the_older_half) {
    item items[5];
    for (item& i : items) m_queue.push_back(i);
    runnable_list taken = m_queue.steal(m_seen, 0);
    EXPECT_EQ(taken.pop_front(), &items[0]);
    EXPECT_EQ(taken.pop_front(), &items[1]);
    EXPECT_EQ(taken.pop_front(), &items[2]);
    EXPECT_EQ(taken.pop_front(), nullptr);
    EXPECT_EQ(m_queue.pop(), &items[3]);
    EXPECT_EQ(m_queue.pop(), &items[4]);
}

TEST_P(ready_queue_test, thief_takes_a_limited_number) {
    std::vector<item> items(200);
    for (item& i : items) m_queue.push_back(i);
    EXPECT_EQ(length(m_queue.steal(m_seen, 0)), 32);
    EXPECT_EQ(m_queue.size_hint(), 168U);
}

TEST_P(ready_queue_test, single_thread_is_stolen_when_the_owner_makes_no_progress) {
    item a;
    m_queue.push_back(a);
    static_cast<void>(m_queue.pop());
    m_queue.push_back(a);
    EXPECT_TRUE(m_queue.steal(m_seen, 0).empty()); // the owner has taken one since the last visit
    EXPECT_EQ(m_queue.steal(m_seen, 0).pop_front(), &a);
    EXPECT_FALSE(m_queue.has_stealable());
}

TEST_P(ready_queue_test, who_has_threads_takes_from_one_that_gets_on_with_twice_as_many) {
    item items[6];
    for (item& i : items) m_queue.push_back(i);
    static_cast<void>(m_queue.pop()); // the owner gets on
    EXPECT_TRUE(m_queue.steal(m_seen, 3).empty());
    EXPECT_EQ(length(m_queue.steal(m_seen, 3)), 3); // it has not got on since
    m_queue.push_back(items[0]);
    m_queue.push_back(items[1]);
    static_cast<void>(m_queue.pop());
    EXPECT_TRUE(m_queue.steal(m_seen, 2).empty());
    static_cast<void>(m_queue.pop());
    EXPECT_EQ(length(m_queue.steal(m_seen, 1)), 1);
}

TEST_P(ready_queue_test, bound_threads_stay) {
    item bound, free;
    bound.bound = true;
    m_queue.push_back(bound);
    m_queue.push_back(free);
    EXPECT_TRUE(m_queue.has_stealable());
    static_cast<void>(m_queue.steal(m_seen, 0)); // the first visit may only take notes
    while (m_queue.has_stealable()) {
        runnable_list taken = m_queue.steal(m_seen, 0);
        if (!taken.empty()) {
            EXPECT_EQ(taken.pop_front(), &free);
            EXPECT_TRUE(taken.empty());
        }
        ASSERT_LT(m_visits++, 10) << "a thread behind a bound one is never stolen";
    }
    EXPECT_EQ(m_queue.pop(), &bound);
    EXPECT_EQ(m_queue.pop(), nullptr);
}

TEST_P(ready_queue_test, owner_and_thieves_share_without_loss) {
    constexpr int k_items = 20000;
    std::vector<item> items(k_items);
    std::atomic<int> taken{0};
    auto const take = [&taken](runnable* r) {
        static_cast<item*>(r)->taken.fetch_add(1, std::memory_order_relaxed);
        taken.fetch_add(1, std::memory_order_relaxed);
    };
    auto const rob = [&] {
        std::uint32_t seen = 0;
        while (taken.load(std::memory_order_relaxed) < k_items) {
            runnable_list some = m_queue.steal(seen, 0);
            while (runnable* const r = some.pop_front()) take(r);
            std::this_thread::yield();
        }
    };
    std::thread one(rob), two(rob);
    for (std::size_t k = 0; k < k_items; ++k) {
        m_queue.push_back(items[k]);
        if (k % 3 == 0) {
            if (runnable* const r = m_queue.pop()) take(r);
        }
    }
    one.join();
    two.join();
    for (item const& i : items) ASSERT_EQ(i.taken.load(std::memory_order_relaxed), 1);
}

} // namespace

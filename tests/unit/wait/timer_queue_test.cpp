// SPDX-License-Identifier: Apache-2.0
#include "base/rng.hpp"
#include "runtime_fixture.hpp"
#include "wait/timer_queue.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
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

constexpr std::uint16_t k_taken = 0x8000; // places from here on are in batches

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

std::uint64_t of_any_size(base::rng& random, unsigned most_bits) { return random.next() >> (64 - 1 - random.below(most_bits)); }

// What the queue says is compared with a set; time goes on by steps of all sizes. None is early, none is left, and they come in order.
TEST_F(timer_queue_test, agrees_with_an_ordered_set) {
    constexpr int k_operations = 1'000'000;
    base::rng random(test_seed());
    std::vector<timer> timers(300);
    std::multiset<std::uint64_t> expected;
    std::uint64_t now = of_any_size(random, 40);
    for (int operation = 0; operation < k_operations; ++operation) {
        timer& t = timers[random.below(300)];
        if (random.below(16) == 0) {
            auto const when = [passed = now](timer const* of) { return std::max(of->deadline, passed); }; // as those are that came too late
            now += of_any_size(random, 34);
            while (m_queue.next_deadline() <= now) m_queue.expire(now);
            ASSERT_TRUE(std::is_sorted(m_fired.begin(), m_fired.end(), [&](timer* a, timer* b) { return when(a) < when(b); }))
                << "in order";
            for (timer const* const fired : m_fired) {
                ASSERT_LE(fired->deadline, now) << "not early";
                auto const found = expected.find(fired->deadline);
                ASSERT_NE(found, expected.end()) << "once";
                expected.erase(found);
            }
            m_fired.clear();
            ASSERT_TRUE(expected.empty() || *expected.begin() > now) << "none is left";
        } else if (t.place.load() >= k_taken) {
            bool const is_late = random.below(16) == 0;
            insert(t, is_late ? now - std::min(now, of_any_size(random, 34)) : now + of_any_size(random, 40));
            expected.insert(t.deadline);
        } else {
            m_queue.remove(t);
            expected.erase(expected.find(t.deadline));
        }
        ASSERT_LE(m_queue.next_deadline(), expected.empty() ? k_never : std::max(*expected.begin(), now));
        ASSERT_EQ(m_queue.next_deadline() == k_never, expected.empty());
    }
}

// The deadlines next to where a level ends and the next one begins, from several positions of the wheel.
TEST_F(timer_queue_test, fires_to_the_nanosecond_wherever_levels_meet) {
    using shape = wait::timer_queue_shape;
    for (std::uint64_t const start : {std::uint64_t{1}, std::uint64_t{1023}, (std::uint64_t{1} << 30U) - 1, std::uint64_t{1} << 41U}) {
        for (unsigned bits = 1; bits < 62; ++bits) {
            for (std::uint64_t const around : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}}) {
                auto const queue = std::make_unique<timer_queue>();
                timer before, t;
                for (timer* const each : {&before, &t}) each->fire = &note_firing;
                before.deadline = start;
                static_cast<void>(queue->insert(before));
                ASSERT_EQ(queue->expire(start), 1U);
                t.deadline = start + (std::uint64_t{1} << bits) + around - 1;
                static_cast<void>(queue->insert(t));
                ASSERT_EQ(queue->next_deadline(), t.deadline);
                ASSERT_EQ(queue->expire(t.deadline - 1), 0U) << bits;
                ASSERT_EQ(queue->next_deadline(), t.deadline);
                ASSERT_EQ(queue->expire(t.deadline), 1U) << bits;
            }
        }
    }
    static_assert(shape::step_bits * (shape::levels - 1) + shape::slot_bits < 62, "beyond the last level, too");
}

TEST_F(timer_queue_test, deadlines_at_the_ends_of_time) {
    timer past, far, last, never;
    insert(never, k_never);
    EXPECT_EQ(m_queue.next_deadline(), k_never);
    insert(last, k_never - 1);
    insert(far, std::uint64_t{1} << 63U);
    EXPECT_EQ(m_queue.expire((std::uint64_t{1} << 63U) - 1), 0U);
    insert(past, 0);
    EXPECT_EQ(m_queue.expire((std::uint64_t{1} << 63U) - 1), 1U);
    EXPECT_EQ(m_queue.expire(std::uint64_t{1} << 63U), 1U);
    while (m_queue.next_deadline() <= k_never - 1) m_queue.expire(k_never - 1);
    EXPECT_EQ(m_fired, (std::vector<timer*>{&past, &far, &last}));
    m_queue.remove(never);
    EXPECT_EQ(never.place.load(), timer::k_nowhere);
}

TEST_F(timer_queue_test, equal_deadlines_fire_in_order_of_insertion) {
    std::vector<timer> timers(1000);
    for (timer& t : timers) insert(t, 3'000'000'000);
    EXPECT_EQ(m_queue.expire(2'999'999'999), 0U);
    while (m_queue.next_deadline() <= 3'000'000'000) m_queue.expire(3'000'000'000);
    ASSERT_EQ(m_fired.size(), timers.size());
    for (std::size_t k = 0; k < timers.size(); ++k) ASSERT_EQ(m_fired[k], &timers[k]);
}

TEST_F(timer_queue_test, shards_have_one_next_deadline) {
    std::vector<timer> timers(100);
    for (unsigned k = 0; k < 100; ++k) {
        timers[k].fire = &note_firing;
        timers[k].deadline = 1000 - k;
        EXPECT_TRUE(m_queue.insert(timers[k], k));
        EXPECT_EQ(m_queue.next_deadline(), 1000 - k);
    }
    for (unsigned k = 100; k-- > 1;) {
        m_queue.remove(timers[k]);
        EXPECT_EQ(m_queue.next_deadline(), 1001 - k);
    }
    EXPECT_EQ(m_queue.expire(1000, 7), 1U) << "also by who has another shard";
    EXPECT_EQ(m_queue.next_deadline(), k_never);
}

TEST_F(timer_queue_test, cleared_queue_forgets_its_timers) {
    timer a, b;
    insert(a, 10);
    insert(b, 10'000'000'000);
    m_queue.lock_for_process_fork();
    m_queue.unlock_after_process_fork();
    m_queue.clear();
    EXPECT_EQ(m_queue.next_deadline(), k_never);
    m_queue.remove(a); // without effect
    insert(b, 20);
    EXPECT_EQ(m_queue.expire(100), 1U);
}

// While the first of many that are due is fired, the others but for a batch are still in the wheel: nobody who inserts waited for more.
std::vector<timer>* g_many = nullptr;
std::size_t g_most_taken = 0;
std::size_t g_fired_so_far = 0;
void count_taken(timer&) noexcept {
    auto const is_taken = [](timer const& t) { return t.place.load() >= k_taken && t.place.load() != timer::k_nowhere; };
    auto const taken = static_cast<std::size_t>(std::count_if(g_many->begin(), g_many->end(), is_taken));
    g_most_taken = std::max(g_most_taken, taken - g_fired_so_far++);
}

TEST_F(timer_queue_test, takes_no_more_than_a_batch_at_a_time) {
    std::vector<timer> timers(2000);
    g_many = &timers;
    g_most_taken = g_fired_so_far = 0;
    for (timer& t : timers) {
        t.fire = &count_taken;
        t.deadline = 5'000'000'000;
        static_cast<void>(m_queue.insert(t));
    }
    std::size_t calls = 0;
    for (; m_queue.next_deadline() <= 5'000'000'000; ++calls)
        ASSERT_LE(m_queue.expire(5'000'000'000), timer_queue::k_batch * wait::timer_queue_shape::rounds);
    EXPECT_EQ(g_fired_so_far, timers.size());
    EXPECT_EQ(g_most_taken, timer_queue::k_batch);
    EXPECT_GE(calls, timers.size() / (timer_queue::k_batch * wait::timer_queue_shape::rounds));
}

// --- several OS threads -----------------------------------------------------------------------------------------------------------------

struct slow_timer : timer {
    std::atomic<int> state{0}; // 1: fire() has begun; 2: it may end; 3: it has ended
};
void fire_slowly(timer& t) noexcept {
    auto& s = static_cast<slow_timer&>(t);
    s.state.store(1);
    while (s.state.load() != 2) std::this_thread::yield();
    s.state.store(3);
}

// Who removes waits for its own timer only; the others are inserted, removed and fired meanwhile, by others.
TEST_F(timer_queue_test, removal_waits_for_a_firing_and_for_nothing_else) {
    slow_timer slow;
    timer same_batch, later, other;
    slow.fire = &fire_slowly;
    slow.deadline = 10;
    static_cast<void>(m_queue.insert(slow));
    insert(same_batch, 11);
    std::thread clock([&] { m_queue.expire(20); });
    while (slow.state.load() != 1) std::this_thread::yield();
    m_queue.remove(same_batch);
    insert(later, 30);
    insert(other, 31);
    m_queue.remove(later);
    EXPECT_EQ(m_queue.expire(40), 1U) << "another worker goes on with the same shard";
    std::atomic<bool> is_removed{false};
    std::thread owner([&] {
        m_queue.remove(slow);
        EXPECT_EQ(slow.state.load(), 3);
        is_removed.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(is_removed.load());
    slow.state.store(2);
    owner.join();
    clock.join();
    EXPECT_EQ(m_fired, (std::vector<timer*>{&other}));
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

// Several who wait for a while, and several who expire. Every wait ends once, by its timer or by its owner.
TEST_F(timer_queue_test, many_owners_and_clocks) {
    constexpr unsigned k_owners = 3;
    std::atomic<std::uint64_t> now{1};
    std::atomic<unsigned> left{k_owners};
    std::vector<std::thread> threads;
    std::uint64_t const seed = test_seed();
    for (unsigned number = 0; number < k_owners; ++number)
        threads.emplace_back([&, number] {
            base::rng random(seed + number);
            for (int round = 0; round < 20000; ++round) {
                counted_timer t;
                t.fire = &count_firing;
                t.deadline = now.load() + of_any_size(random, 24);
                static_cast<void>(m_queue.insert(t, random.below(3)));
                if (random.below(8) != 0) {
                    m_queue.remove(t);
                } else {
                    while (t.firings.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
                    m_queue.remove(t);
                }
                t.in_frame = false;
                ASSERT_LE(t.firings.load(std::memory_order_relaxed), 1);
            }
            left.fetch_sub(1);
        });
    for (unsigned number = 0; number < 2; ++number)
        threads.emplace_back([&, number] {
            for (std::uint64_t step = 1; left.load() != 0; step = step % 4'000'000 + 1) {
                m_queue.expire(now.fetch_add(step * 100), number);
                std::this_thread::yield();
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(m_queue.next_deadline() <= now.load() ? m_queue.expire(now.load()) : 0, 0U);
    EXPECT_EQ(m_queue.next_deadline(), k_never);
}

} // namespace

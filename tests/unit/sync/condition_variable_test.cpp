// SPDX-License-Identifier: Apache-2.0
#include <tulle/condition_variable.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using lock_type = std::unique_lock<tulle::mutex>;

// A bounded buffer: the classic use of two conditions.
class buffer {
public:
    explicit buffer(std::size_t most) : m_most(most) {}

    void put(int value) {
        lock_type held(m_lock);
        m_not_full.wait(held, [this] { return m_values.size() < m_most; });
        m_values.push_back(value);
        m_not_empty.notify_one();
    }
    int take() {
        lock_type held(m_lock);
        m_not_empty.wait(held, [this] { return !m_values.empty(); });
        int const value = m_values.front();
        m_values.pop_front();
        m_not_full.notify_one();
        return value;
    }

private:
    std::size_t m_most;
    tulle::mutex m_lock;
    tulle::condition_variable m_not_full, m_not_empty;
    std::deque<int> m_values;
};

struct gate {
    tulle::mutex lock;
    tulle::condition_variable changed;
    int waiting = 0;
    int passed = 0;
    bool is_open = false;

    void pass() {
        lock_type held(lock);
        ++waiting;
        changed.wait(held, [this] { return is_open; });
        ++passed;
    }
    void await_waiters(int count) {
        for (lock_type held(lock); waiting < count; held.lock()) {
            held.unlock();
            tulle::this_thread::sleep_for(100us);
        }
    }
};

TEST(condition_variable, nothing_is_lost_between_producers_and_consumers) {
    constexpr int k_each = 2000;
    buffer b(3);
    std::vector<tulle::thread<long>> consumers;
    for (int i = 0; i < 4; ++i) {
        consumers.push_back(tulle::spawn([&b] {
            long sum = 0;
            for (int k = 0; k < k_each; ++k) sum += b.take();
            return sum;
        }));
    }
    auto const produce = [&b] {
        for (int k = 0; k < k_each; ++k) b.put(k);
    };
    std::vector<tulle::thread<void>> producers;
    for (int i = 0; i < 3; ++i) producers.push_back(tulle::spawn(produce));
    std::thread foreign(produce);
    long sum = 0;
    for (auto& p : producers) p.join();
    for (auto& c : consumers) sum += c.join();
    foreign.join(); // last: it holds up this worker, which may be the only one
    EXPECT_EQ(sum, 4L * k_each * (k_each - 1) / 2);
}

TEST(condition_variable, notify_one_wakes_one_and_notify_all_the_rest) {
    constexpr int k_waiters = 20;
    tulle::mutex lock;
    tulle::condition_variable changed;
    int waiting = 0;
    int woken = 0;
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> foreign;
    auto const wait_once = [&] {
        lock_type held(lock);
        ++waiting;
        changed.wait(held);
        ++woken;
    };
    for (int i = 0; i < k_waiters; ++i) threads.push_back(tulle::spawn(wait_once));
    for (int i = 0; i < 2; ++i) foreign.emplace_back(wait_once);
    auto const count = [&](int const& which) {
        lock_type const held(lock);
        return which;
    };
    while (count(waiting) < k_waiters + 2) tulle::this_thread::sleep_for(100us);
    changed.notify_one();
    while (count(woken) < 1) tulle::this_thread::sleep_for(100us);
    tulle::this_thread::sleep_for(5ms);
    EXPECT_EQ(count(woken), 1);
    changed.notify_all();
    for (auto& t : threads) t.join();
    for (auto& t : foreign) t.join();
    EXPECT_EQ(woken, k_waiters + 2);
}

TEST(condition_variable, a_notification_without_waiters_is_nothing) {
    tulle::mutex lock;
    tulle::condition_variable changed;
    changed.notify_one();
    changed.notify_all();
    lock_type held(lock);
    EXPECT_EQ(changed.wait_for(held, 1ms), std::cv_status::timeout);
    EXPECT_TRUE(held.owns_lock());
}

TEST(condition_variable, timed_waits) {
    gate g;
    lock_type held(g.lock);
    auto const begin = clock_type::now();
    EXPECT_FALSE(g.changed.wait_for(held, 10ms, [&g] { return g.is_open; }));
    EXPECT_GE(clock_type::now() - begin, 10ms);
    EXPECT_EQ(g.changed.wait_for(held, -1s), std::cv_status::timeout);
    EXPECT_EQ(g.changed.wait_until(held, clock_type::time_point::min()), std::cv_status::timeout);
    EXPECT_TRUE(g.changed.wait_until(held, clock_type::time_point::min(), [] { return true; }));
    held.unlock();
    auto waiter = tulle::spawn([&g] {
        lock_type mine(g.lock);
        return g.changed.wait_for(mine, 1h, [&g] { return g.is_open; });
    });
    EXPECT_FALSE(waiter.join_for(2ms));
    held.lock();
    g.is_open = true;
    g.changed.notify_one();
    held.unlock();
    EXPECT_TRUE(waiter.join());
}

TEST(condition_variable, a_timed_out_waiter_takes_no_notification) {
    for (int i = 0; i < 200; ++i) {
        tulle::mutex lock;
        tulle::condition_variable changed;
        int tickets = 0;
        int taken = 0;
        auto const take = [&](auto timeout) {
            lock_type held(lock);
            if (changed.wait_for(held, timeout, [&] { return tickets > 0; })) {
                --tickets;
                ++taken;
            }
        };
        auto patient = tulle::spawn([&] { take(1h); });
        auto timed = tulle::spawn([&] { take(std::chrono::microseconds(i)); });
        tulle::this_thread::sleep_for(std::chrono::microseconds(i));
        {
            lock_type const held(lock);
            tickets = 2;
            changed.notify_one();
            changed.notify_one();
        }
        patient.join();
        timed.join();
        EXPECT_EQ(taken + tickets, 2);
        EXPECT_GE(taken, 1);
    }
}

TEST(condition_variable, may_be_destroyed_when_all_are_notified) {
    for (int i = 0; i < 200; ++i) {
        auto* const changed = new tulle::condition_variable;
        tulle::mutex lock;
        bool ready = false;
        int waiting = 0;
        std::vector<tulle::thread<void>> threads;
        for (int k = 0; k < 3; ++k) {
            threads.push_back(tulle::spawn([&] {
                lock_type held(lock);
                ++waiting;
                while (!ready) changed->wait(held);
            }));
        }
        lock_type held(lock);
        while (waiting < 3) {
            held.unlock();
            tulle::this_thread::yield();
            held.lock();
        }
        ready = true;
        changed->notify_all();
        delete changed;
        held.unlock();
        for (auto& t : threads) t.join();
    }
}

TEST(condition_variable, limits_without_a_predicate) {
    gate g;
    tulle::cancellation_source source;
    source.request_stop_after(1ms);
    lock_type held(g.lock);
    EXPECT_FALSE(g.changed.wait(held, source.get_token()));
    EXPECT_TRUE(source.stop_requested());
    EXPECT_FALSE(g.changed.wait(held, tulle::wait_limit(1ms)));
    EXPECT_FALSE(g.changed.wait(held, tulle::wait_limit(clock_type::now() + 1ms)));
    EXPECT_TRUE(held.owns_lock());
    auto notifier = tulle::spawn([&g] {
        lock_type const mine(g.lock);
        g.changed.notify_one();
    });
    EXPECT_TRUE(g.changed.wait(held, tulle::cancellation_source().get_token()));
    held.unlock();
    notifier.join();
}

TEST(condition_variable, many_waiters_pass_an_opened_gate) {
    constexpr int k_threads = 2000;
    gate g;
    std::vector<tulle::thread<void>> threads;
    for (int i = 0; i < k_threads; ++i) threads.push_back(tulle::spawn([&g] { g.pass(); }));
    g.await_waiters(k_threads);
    {
        lock_type const held(g.lock);
        g.is_open = true;
        g.changed.notify_all();
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(g.passed, k_threads);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "sched/scheduler.hpp"

#include <tulle/mutex.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constinit tulle::mutex g_static_mutex; // must need no constructor at run time

struct counter {
    tulle::mutex lock;
    long value = 0;

    void add(int times, bool yields) {
        for (int i = 0; i < times; ++i) {
            std::lock_guard const held(lock);
            long const seen = value;
            if (yields && i % 16 == 0) tulle::this_thread::yield(); // with the mutex held
            value = seen + 1;
        }
    }
};

TEST(mutex, smoke) {
    std::lock_guard const outer(g_static_mutex);
    tulle::mutex m;
    m.lock();
    m.unlock();
    std::unique_lock held(m, std::try_to_lock);
    EXPECT_TRUE(held.owns_lock());
}

TEST(mutex, try_lock_fails_while_another_holds_it) {
    tulle::mutex m;
    m.lock();
    EXPECT_FALSE(tulle::spawn([&m] { return m.try_lock(); }).join());
    m.unlock();
    EXPECT_TRUE(tulle::spawn([&m] {
                    bool const locked = m.try_lock();
                    if (locked) m.unlock();
                    return locked;
                }).join());
}

// A thousand waiters that look again and again, and yield in between, would be a queue that the
// next holder waits in.
TEST(mutex, a_thread_that_waits_is_not_ready) {
    constexpr int k_waiters = 100;
    if (tulle::is_initialized()) tulle::finalize();
    tulle::initialize({.workers = 1});
    tulle::mutex m;
    int begun = 0;
    std::vector<tulle::thread<void>> threads;
    m.lock();
    for (int k = 0; k < k_waiters; ++k) {
        threads.push_back(tulle::spawn([&] {
            ++begun;
            std::lock_guard const held(m);
        }));
    }
    while (begun < k_waiters) tulle::this_thread::yield();
    EXPECT_TRUE(tulle::sched::this_worker()->ready.looks_empty());
    m.unlock();
    for (auto& t : threads) t.join();
    tulle::finalize();
}

TEST(mutex, excludes_threads_of_any_kind) {
    constexpr int k_times = 3000;
    counter c;
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> foreign;
    for (int i = 0; i < 8; ++i)
        threads.push_back(tulle::spawn([&c, i] { c.add(k_times, i % 2 == 0); }));
    for (int i = 0; i < 3; ++i) foreign.emplace_back([&c, i] { c.add(k_times, i == 0); });
    for (auto& t : threads) t.join();
    for (auto& t : foreign) t.join();
    EXPECT_EQ(c.value, 11 * k_times);
}

TEST(mutex, a_waiter_gets_it_when_the_holder_sleeps) {
    tulle::mutex m;
    bool done = false;
    auto holder = tulle::spawn([&] {
        std::lock_guard const held(m);
        tulle::this_thread::sleep_for(20ms);
        done = true;
    });
    while (m.try_lock()) {
        m.unlock();
        if (holder.try_join()) break;
        tulle::this_thread::yield();
    }
    std::lock_guard const held(m);
    EXPECT_TRUE(done);
}

TEST(mutex, timed_lock_gives_up) {
    tulle::mutex m;
    m.lock();
    auto const begin = clock_type::now();
    EXPECT_FALSE(tulle::spawn([&m] { return m.try_lock_for(10ms); }).join());
    EXPECT_GE(clock_type::now() - begin, 10ms);
    bool foreign = true;
    std::thread([&] { foreign = m.try_lock_until(clock_type::now() + 5ms); }).join();
    EXPECT_FALSE(foreign);
    EXPECT_FALSE(tulle::spawn([&m] {
                     return m.try_lock_until(std::chrono::system_clock::now() + 1ms);
                 }).join());
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

TEST(mutex, a_time_out_in_the_past_only_tries) {
    tulle::mutex m;
    EXPECT_TRUE(m.try_lock_for(-1s));
    EXPECT_FALSE(tulle::spawn([&m] {
                     return m.try_lock_for(-1s) || m.try_lock_until(clock_type::time_point::min());
                 }).join());
    m.unlock();
}

TEST(mutex, timed_lock_succeeds_in_time) {
    tulle::mutex m;
    m.lock();
    auto waiter = tulle::spawn([&m] {
        bool const locked = m.try_lock_for(std::chrono::hours::max());
        if (locked) m.unlock();
        return locked;
    });
    EXPECT_FALSE(waiter.join_for(2ms));
    m.unlock();
    EXPECT_TRUE(waiter.join());
}

TEST(mutex, timed_waiters_among_others_lose_no_wake_up) {
    counter c;
    std::atomic<long> locked{0};
    std::vector<tulle::thread<void>> threads;
    for (int i = 0; i < 6; ++i) threads.push_back(tulle::spawn([&c] { c.add(500, true); }));
    for (int i = 0; i < 6; ++i) {
        threads.push_back(tulle::spawn([&c, &locked, i] {
            for (int k = 0; k < 200; ++k) {
                if (!c.lock.try_lock_for(std::chrono::microseconds(20 * i))) continue;
                ++c.value;
                c.lock.unlock();
                locked.fetch_add(1);
            }
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(c.value, 3000 + locked.load());
}

// Two threads that hardly ever leave it free, on as many workers as there are; a third must still
// get it.
clock_type::duration longest_of_200_waits() {
    tulle::mutex m;
    std::atomic<bool> stop{false};
    std::atomic<long> taken{0};
    std::vector<tulle::thread<void>> greedy;
    for (int i = 0; i < 2; ++i) {
        greedy.push_back(tulle::spawn([&] {
            while (!stop.load()) {
                std::lock_guard const held(m);
                for (int k = 0; k < 50; ++k) static_cast<void>(stop.load());
                taken.fetch_add(1);
            }
        }));
    }
    clock_type::duration longest{};
    std::thread([&] {
        while (taken.load() < 100) std::this_thread::yield();
        for (int i = 0; i < 200; ++i) {
            auto const begin = clock_type::now();
            std::lock_guard const held(m);
            longest = std::max(longest, clock_type::now() - begin);
        }
    }).join();
    stop.store(true);
    for (auto& t : greedy) t.join();
    return longest;
}

// Again, where other programs had the processors for a while.
TEST(mutex, no_starvation) {
    clock_type::duration longest = longest_of_200_waits();
    for (int again = 0; again < 2 && longest >= 2s; ++again) longest = longest_of_200_waits();
    long const us = std::chrono::duration_cast<std::chrono::microseconds>(longest).count();
    RecordProperty("longest_wait_us", static_cast<int>(us));
    std::printf("longest of 200 waits: %ld us\n", us);
    EXPECT_LT(longest, 2s) << "longest wait: " << us << " us";
}

#ifndef NDEBUG
TEST(mutex_death, is_not_recursive) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::mutex m;
    EXPECT_DEATH(
        {
            m.lock();
            m.lock();
        },
        "not recursive");
}

TEST(mutex_death, only_the_holder_unlocks) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::mutex m;
    EXPECT_DEATH(m.unlock(), "but nobody holds it");
    EXPECT_DEATH(
        {
            m.lock();
            std::thread([&m] { m.unlock(); }).join();
        },
        "unlock it where it was locked");
}
#endif

} // namespace

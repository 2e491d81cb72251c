// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(spin_lock, excludes) {
    tulle::spin_lock lock;
    static_assert(sizeof lock == 8);
    long sum = 0; // plain
    run_in_both_kinds(6, 2, [&](int self) {
        for (int k = 0; k < 1000; ++k) {
            if (self == 0 && k % 2 == 0)
                while (!lock.try_lock_for(5us)) {}
            else
                lock.lock();
            ++sum;
            lock.unlock();
        }
    });
    EXPECT_EQ(sum, 8 * 1000);
}

TEST(spin_lock, tries_and_times_out) {
    tulle::spin_lock lock;
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock_for(-1s));
    auto const begin = clock_type::now();
    EXPECT_FALSE(lock.try_lock_until(begin + 2ms));
    EXPECT_GE(clock_type::now() - begin, 2ms);
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(1s));
}

// The holder is ready, on the worker of those who spin.
TEST(spin_lock, may_be_held_over_a_yield_and_a_wait) {
    tulle::spin_lock lock;
    long sum = 0; // plain
    run_in_both_kinds(8, 1, [&](int) {
        for (int k = 0; k < 50; ++k) {
            std::lock_guard const held(lock);
            ++sum;
            if (k % 10 == 0)
                tulle::this_thread::sleep_for(10us);
            else
                tulle::this_thread::yield();
        }
    });
    EXPECT_EQ(sum, 9 * 50);
}

TEST(spin_lock, nobody_starves) {
    tulle::spin_lock lock;
    std::atomic<bool> stop{false};
    auto greedy = tulle::spawn([&] {
        while (!stop) {
            lock.lock();
            tulle::this_thread::yield(); // it is nearly never free
            lock.unlock();
        }
    });
    auto modest = tulle::spawn([&] {
        for (int k = 0; k < 20; ++k) std::lock_guard const held(lock);
    });
    modest.join();
    stop = true;
    greedy.join();
}

TEST(spin_lock, may_be_freed_by_its_next_holder) {
    for (int k = 0; k < 1000; ++k) {
        auto lock = std::make_unique<tulle::spin_lock>();
        lock->lock();
        auto other = tulle::spawn([l = lock.get()] { l->unlock(); });
        lock->lock();
        lock.reset();
        other.join();
    }
}

} // namespace

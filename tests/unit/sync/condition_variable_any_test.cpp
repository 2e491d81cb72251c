// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

template <class Mutex> class of_any_lock : public ::testing::Test {};
using locks =
    ::testing::Types<tulle::mutex, tulle::recursive_mutex, tulle::shared_mutex, tulle::spin_lock>;
TYPED_TEST_SUITE(of_any_lock, locks, );

TYPED_TEST(of_any_lock, items_are_passed_on) {
    TypeParam lock;
    tulle::condition_variable_any changed;
    int full = 0; // plain
    int taken = 0;
    constexpr int k_items = 600;
    run_in_both_kinds(6, 2, [&](int self) {
        for (int k = 0; k < k_items; ++k) {
            std::unique_lock held(lock);
            if (self % 2 == 0) {
                changed.wait(held, [&] { return full < 3; });
                ++full;
            } else {
                while (!changed.wait_for(held, std::chrono::microseconds(50),
                                         [&] { return full > 0; })) {}
                --full;
                ++taken;
            }
            changed.notify_all();
        }
    });
    EXPECT_EQ(taken, 4 * k_items);
    EXPECT_EQ(full, 0);
}

TEST(condition_variable_any, a_lock_that_is_not_held_harms_nobody_else) {
    tulle::mutex m;
    tulle::condition_variable_any changed;
    std::unique_lock not_held(m, std::defer_lock);
    EXPECT_THROW(changed.wait(not_held), std::system_error);
    std::unique_lock held(m);
    EXPECT_EQ(changed.wait_for(held, 1ms), std::cv_status::timeout);
}

TEST(condition_variable_any, waits_with_a_shared_lock) {
    tulle::shared_mutex m;
    tulle::condition_variable_any changed;
    bool is_true = false;
    std::vector<tulle::thread<void>> readers;
    for (int k = 0; k < 4; ++k) {
        readers.push_back(tulle::spawn([&] {
            std::shared_lock held(m);
            changed.wait(held, [&] { return is_true; });
        }));
    }
    tulle::this_thread::sleep_for(1ms);
    {
        std::lock_guard const held(m);
        is_true = true;
    }
    changed.notify_all();
    for (auto& r : readers) r.join();
}

TEST(condition_variable_any, times_out_and_is_cancelled) {
    tulle::shared_mutex m;
    tulle::condition_variable_any never;
    std::unique_lock held(m);
    auto const begin = clock_type::now();
    EXPECT_EQ(never.wait_for(held, 2ms), std::cv_status::timeout);
    EXPECT_GE(clock_type::now() - begin, 2ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(never.wait_until(held, begin, [] { return false; }));
    tulle::cancellation_source source;
    source.request_stop_after(1ms);
    EXPECT_FALSE(never.wait(held, source.get_token(), [] { return false; }));
    EXPECT_TRUE(never.wait(held, source.get_token(), [] { return true; }));
    EXPECT_FALSE(never.wait(held, source.get_token())) << "no predicate";
    EXPECT_FALSE(never.wait(held, tulle::wait_limit(1ms)));
    EXPECT_FALSE(never.wait(held, tulle::wait_limit(clock_type::now() + 1ms)));
    EXPECT_FALSE(m.try_lock_shared()) << "held again";
}

TEST(condition_variable_any, one_notification_for_one) {
    tulle::spin_lock lock;
    tulle::condition_variable_any changed;
    int waiting = 0; // with the lock held, as is what is woken
    int woken = 0;
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 3; ++k) {
        threads.push_back(tulle::spawn([&] {
            std::unique_lock held(lock);
            ++waiting;
            changed.wait(held);
            ++woken;
        }));
    }
    auto const see = [&lock](int const& count) {
        std::lock_guard const held(lock);
        return count;
    };
    while (see(waiting) < 3) tulle::this_thread::yield();
    changed.notify_one();
    while (see(woken) == 0) tulle::this_thread::yield();
    tulle::this_thread::sleep_for(1ms);
    EXPECT_EQ(see(woken), 1);
    changed.notify_all();
    for (auto& t : threads) t.join();
}

TEST(condition_variable_any, may_be_destroyed_when_all_are_notified) {
    for (int k = 0; k < 500; ++k) {
        tulle::mutex m;
        auto changed = std::make_unique<tulle::condition_variable_any>();
        bool waits = false;
        auto waiter = tulle::spawn([&m, &waits, c = changed.get()] {
            std::unique_lock held(m);
            waits = true;
            c->wait(held);
        });
        for (bool ready = false; !ready; tulle::this_thread::yield()) {
            std::lock_guard const held(m);
            ready = waits;
        }
        changed->notify_all();
        changed.reset();
        waiter.join();
    }
}

} // namespace

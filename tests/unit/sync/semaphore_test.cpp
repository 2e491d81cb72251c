// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"
#include "one_worker.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(semaphore, counts) {
    tulle::counting_semaphore<> s(2);
    EXPECT_EQ(s.count(), 2);
    s.acquire();
    EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire_for(-1s));
    s.release(3);
    EXPECT_EQ(s.count(), 3);
    EXPECT_TRUE(s.try_acquire_for(0s));
    EXPECT_TRUE(s.try_acquire_until(clock_type::now() + 1h));
    s.release(0);
    EXPECT_EQ(s.count(), 1);
    static_assert(tulle::binary_semaphore::max() >= 1);
}

TEST(semaphore, refuses_bad_counts) {
    EXPECT_THROW(tulle::binary_semaphore(-1), std::invalid_argument);
    EXPECT_THROW(tulle::binary_semaphore((std::ptrdiff_t{1} << 62) + 1), std::invalid_argument);
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(tulle::binary_semaphore(1).release(-1),
                 "tulle: semaphore 0x[0-9a-f]+: -1 units are released");
    EXPECT_DEATH(tulle::binary_semaphore(1).release(std::ptrdiff_t{1} << 62),
                 "4611686018427387904 units are released");
}

TEST(semaphore, times_out_and_leaves_nothing) {
    tulle::binary_semaphore s(0);
    auto const begin = clock_type::now();
    EXPECT_FALSE(s.try_acquire_for(3ms));
    EXPECT_GE(clock_type::now() - begin, 3ms);
    s.release();
    EXPECT_EQ(s.count(), 1);
}

TEST(semaphore, first_come_first_served) {
    one_worker const alone;
    tulle::counting_semaphore<> s(0);
    std::vector<int> order;
    std::vector<tulle::thread<void>> threads;
    std::atomic<int> waiting{0};
    tulle::mutex lock;
    for (int k = 0; k < 10; ++k) {
        threads.push_back(tulle::spawn([&, k] {
            ++waiting;
            s.acquire();
            std::lock_guard const held(lock);
            order.push_back(k);
        }));
        while (waiting != k + 1) tulle::this_thread::yield();
    }
    for (int k = 0; k < 10; ++k) {
        s.release();
        EXPECT_FALSE(s.try_acquire()) << "overtakes";
        threads[static_cast<std::size_t>(k)].join();
    }
    for (int k = 0; k < 10; ++k) EXPECT_EQ(order[static_cast<std::size_t>(k)], k);
}

TEST(semaphore, bounds_the_threads_inside) {
    constexpr int k_units = 3;
    tulle::counting_semaphore<k_units> s(k_units);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    run_in_both_kinds(12, 3, [&](int self) {
        for (int k = 0; k < 300; ++k) {
            if (self % 3 == 0)
                while (!s.try_acquire_for(std::chrono::microseconds(k % 30)))
                    tulle::this_thread::yield();
            else
                s.acquire();
            int const now = ++inside;
            int seen = most.load();
            while (now > seen && !most.compare_exchange_weak(seen, now)) {}
            if (k % 8 == 0) tulle::this_thread::yield();
            --inside;
            s.release();
        }
    });
    EXPECT_LE(most.load(), k_units);
    EXPECT_EQ(s.count(), k_units);
}

} // namespace

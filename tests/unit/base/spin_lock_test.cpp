// SPDX-License-Identifier: Apache-2.0
#include "base/spin_lock.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(spin_lock, excludes_more_threads_than_cpus) {
    tulle::base::spin_lock lock;
    long count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 10'000; ++k) {
                std::lock_guard const guard(lock);
                ++count;
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(count, 80'000);
}

TEST(spin_lock, try_lock_refuses_while_held) {
    tulle::base::spin_lock lock;
    ASSERT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

} // namespace

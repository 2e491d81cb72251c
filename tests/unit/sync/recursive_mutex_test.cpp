// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

TEST(recursive_mutex, its_holder_locks_it_again) {
    tulle::recursive_mutex m;
    m.lock();
    EXPECT_TRUE(m.try_lock());
    EXPECT_TRUE(m.try_lock_for(1s));
    EXPECT_TRUE(m.try_lock_until(std::chrono::steady_clock::now()));
    auto other = tulle::spawn([&m] { return m.try_lock() || m.try_lock_for(1ms); });
    for (int k = 0; k < 3; ++k) m.unlock();
    EXPECT_FALSE(other.join()) << "still held";
    m.unlock();
    auto free = tulle::spawn([&m] {
        bool const locked = m.try_lock();
        if (locked) m.unlock();
        return locked;
    });
    EXPECT_TRUE(free.join());
}

TEST(recursive_mutex, counts_for_threads_of_both_kinds) {
    tulle::recursive_mutex m;
    long sum = 0; // plain
    run_in_both_kinds(6, 2, [&](int) {
        for (int k = 0; k < 500; ++k) {
            std::lock_guard const outer(m);
            std::lock_guard const inner(m);
            ++sum;
            if (k % 50 == 0) tulle::this_thread::yield();
        }
    });
    EXPECT_EQ(sum, 8 * 500);
}

TEST(recursive_mutex, tells_a_thread_that_unlocks_what_another_one_holds) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::recursive_mutex m;
    EXPECT_DEATH(
        m.unlock(),
        "tulle: recursive mutex 0x[0-9a-f]+ is unlocked by thread [0-9]+, but nobody holds it");
    auto const unlock_what_main_holds = [&m] {
        m.lock();
        tulle::spawn([&m] { m.unlock(); }).join();
    };
    EXPECT_DEATH(
        unlock_what_main_holds(),
        "is unlocked by thread [0-9]+, but thread [0-9]+ holds it; unlock it where it was");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(shared_mutex, excludes_as_it_should) {
    tulle::shared_mutex m;
    {
        std::shared_lock const one(m);
        std::shared_lock const two(m, std::try_to_lock);
        EXPECT_TRUE(two.owns_lock());
        EXPECT_FALSE(m.try_lock());
        EXPECT_FALSE(m.try_lock_for(1ms));
        EXPECT_TRUE(m.try_lock_shared_for(-1s));
        m.unlock_shared();
    }
    std::unique_lock const alone(m);
    EXPECT_FALSE(m.try_lock());
    EXPECT_FALSE(m.try_lock_shared());
    auto const begin = clock_type::now();
    EXPECT_FALSE(m.try_lock_shared_until(begin + 2ms));
    EXPECT_GE(clock_type::now() - begin, 2ms);
}

TEST(shared_mutex, a_waiting_writer_holds_new_readers_back) {
    tulle::shared_mutex m;
    m.lock_shared();
    auto writer = tulle::spawn([&m] {
        m.lock();
        m.unlock();
    });
    for (; m.try_lock_shared(); tulle::this_thread::yield()) m.unlock_shared(); // until it waits
    std::atomic<bool> begun{false}, read{false};
    auto reader = tulle::spawn([&] {
        begun = true;
        m.lock_shared();
        read = true;
        m.unlock_shared();
    });
    while (!begun) tulle::this_thread::yield();
    tulle::this_thread::sleep_for(1ms);
    EXPECT_FALSE(read);
    m.unlock_shared();
    writer.join();
    reader.join();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

TEST(shared_mutex, a_writer_that_gives_up_lets_readers_in) {
    tulle::shared_mutex m;
    m.lock_shared();
    auto writer = tulle::spawn([&m] { return m.try_lock_for(20ms); });
    tulle::this_thread::sleep_for(3ms);
    EXPECT_TRUE(m.try_lock_shared_for(1h));
    EXPECT_FALSE(writer.join());
    m.unlock_shared();
    m.unlock_shared();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

TEST(shared_mutex, readers_do_not_starve) {
    tulle::shared_mutex m;
    std::atomic<int> reads{0};
    std::atomic<bool> stop{false};
    std::vector<tulle::thread<void>> writers;
    for (int k = 0; k < 4; ++k) {
        writers.push_back(tulle::spawn([&] {
            while (!stop) {
                std::lock_guard const held(m);
                tulle::this_thread::yield();
            }
        }));
    }
    run_in_both_kinds(2, 1, [&](int) {
        for (int k = 0; k < 50; ++k) {
            std::shared_lock const held(m);
            ++reads;
        }
    });
    EXPECT_EQ(reads.load(), 150);
    stop = true;
    for (auto& w : writers) w.join();
}

TEST(shared_mutex, writers_do_not_starve) {
    tulle::shared_mutex m;
    std::atomic<bool> stop{false};
    std::vector<tulle::thread<void>> readers;
    for (int k = 0; k < 4; ++k) {
        readers.push_back(tulle::spawn([&] {
            while (!stop) {
                std::shared_lock const held(m);
                tulle::this_thread::yield();
            }
        }));
    }
    int writes = 0; // plain
    run_in_both_kinds(2, 1, [&](int) {
        for (int k = 0; k < 50; ++k) {
            std::lock_guard const held(m);
            ++writes;
        }
    });
    EXPECT_EQ(writes, 150);
    stop = true;
    for (auto& r : readers) r.join();
}

TEST(shared_mutex, readers_see_whole_writes) {
    tulle::shared_mutex m;
    std::array<long, 8> values{}; // plain
    std::atomic<int> errors{0};
    std::atomic<int> writes{0};
    run_in_both_kinds(8, 3, [&](int self) {
        for (int k = 0; k < 400; ++k) {
            bool const in_time = (k + self) % 5 == 0;
            auto const brief = std::chrono::microseconds(k % 20);
            if ((k + self) % 4 == 0) {
                if (in_time ? !m.try_lock_for(brief) : (m.lock(), false)) continue;
                for (long& v : values) ++v;
                ++writes;
                m.unlock();
            } else {
                if (in_time ? !m.try_lock_shared_for(brief) : (m.lock_shared(), false)) continue;
                for (long const v : values) errors += v != values[0];
                if (k % 16 == 0) tulle::this_thread::yield();
                m.unlock_shared();
            }
        }
    });
    EXPECT_EQ(errors.load(), 0);
    EXPECT_EQ(values[7], writes.load());
}

TEST(shared_mutex, tells_a_thread_that_unlocks_too_much) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::shared_mutex m;
    EXPECT_DEATH(
        m.unlock(),
        "tulle: shared mutex 0x[0-9a-f]+ is unlocked, but no thread has locked it for writing");
    EXPECT_DEATH(m.unlock_shared(), "is unlocked, but no thread has locked it for reading");
}

} // namespace

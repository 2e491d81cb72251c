// SPDX-License-Identifier: Apache-2.0
#include <tulle/once.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constinit tulle::once_flag g_static_flag;

TEST(call_once, calls_once) {
    int calls = 0;
    for (int i = 0; i < 3; ++i)
        tulle::call_once(
            g_static_flag, [&calls](int by) { calls += by; }, 2);
    EXPECT_EQ(calls, 2);
}

TEST(call_once, all_wait_for_the_first) {
    tulle::once_flag flag;
    int calls = 0;
    int made = 0;
    std::atomic<int> seen{0};
    auto const use = [&] {
        tulle::call_once(flag, [&] {
            tulle::this_thread::sleep_for(5ms); // a worker must be free for the others
            ++calls;
            made = 7;
        });
        seen += made;
    };
    std::vector<tulle::thread<void>> threads;
    std::vector<std::thread> foreign;
    for (int i = 0; i < 20; ++i) threads.push_back(tulle::spawn(use));
    for (int i = 0; i < 3; ++i) foreign.emplace_back(use);
    for (auto& t : threads) t.join();
    for (auto& t : foreign) t.join();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(seen.load(), 23 * 7);
}

TEST(call_once, an_exception_leaves_it_to_a_waiter) {
    tulle::once_flag flag;
    std::atomic<int> attempts{0};
    std::atomic<int> thrown{0};
    auto const use = [&] {
        try {
            tulle::call_once(flag, [&] {
                tulle::this_thread::sleep_for(1ms);
                if (++attempts < 4) throw std::runtime_error("not yet");
            });
        } catch (std::runtime_error const&) {
            ++thrown;
        }
    };
    std::vector<tulle::thread<void>> threads;
    for (int i = 0; i < 10; ++i) threads.push_back(tulle::spawn(use));
    for (auto& t : threads) t.join();
    EXPECT_EQ(attempts.load(), 4);
    EXPECT_EQ(thrown.load(), 3);
}

TEST(call_once, waiting_blocks_no_worker) {
    tulle::once_flag flag;
    std::atomic<bool> go{false};
    auto first = tulle::spawn([&] {
        tulle::call_once(flag, [&] {
            while (!go.load()) tulle::this_thread::yield();
        });
    });
    std::vector<tulle::thread<void>> waiters;
    for (int i = 0; i < 4 * tulle::worker_count(); ++i)
        waiters.push_back(tulle::spawn([&] { tulle::call_once(flag, [] {}); }));
    tulle::spawn([&go] { go.store(true); }).join();
    first.join();
    for (auto& w : waiters) w.join();
    SUCCEED();
}

} // namespace

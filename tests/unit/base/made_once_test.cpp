// SPDX-License-Identifier: Apache-2.0
#include "base/made_once.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using tulle::base::made_once;

// Counts those that are there; each is made once all threads are about to make it.
struct counted {
    static constexpr int k_threads = 4;
    static inline std::atomic<int> s_making{0}, s_there{0};

    counted() {
        ++s_making;
        while (s_making.load() < k_threads) std::this_thread::yield();
        ++s_there;
    }
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;
    ~counted() { --s_there; }
};

TEST(made_once, threads_that_make_it_at_once_have_one_and_wait_for_none) {
    constinit static made_once<counted> s_tested;
    std::vector<counted*> found(counted::k_threads);
    std::vector<std::thread> threads;
    for (counted*& own : found) threads.emplace_back([&own] { own = &s_tested.get(); });
    for (auto& thread : threads) thread.join();
    for (counted const* const own : found) EXPECT_EQ(own, found.front());
    EXPECT_EQ(counted::s_there.load(), 1);
    EXPECT_EQ(&s_tested.get(), found.front());
    EXPECT_EQ(counted::s_making.load(), counted::k_threads);
}

struct refusing {
    static inline bool s_refuses = true;
    refusing() {
        if (s_refuses) throw std::runtime_error("not yet");
    }
};

TEST(made_once, what_throws_is_made_the_next_time) {
    constinit static made_once<refusing> s_tested;
    EXPECT_THROW(static_cast<void>(s_tested.get()), std::runtime_error);
    refusing::s_refuses = false;
    EXPECT_EQ(&s_tested.get(), &s_tested.get());
}

} // namespace

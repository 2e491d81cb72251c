// SPDX-License-Identifier: Apache-2.0
#include "os/futex.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace {

using namespace tulle::os;

TEST(futex, returns_at_once_when_the_word_differs) {
    std::atomic<std::uint32_t> word{1};
    EXPECT_EQ(futex_wait(word, 0), wait_result::value_changed);
}

TEST(futex, times_out_on_the_monotonic_clock) {
    std::atomic<std::uint32_t> word{0};
    auto const deadline = monotonic_ns() + 20'000'000;
    errno = 7;
    wait_result result = wait_result::woken;
    while (result == wait_result::woken) {
        result = futex_wait(word, 0, deadline);
    }
    EXPECT_EQ(result, wait_result::timed_out);
    EXPECT_GE(monotonic_ns(), deadline);
    EXPECT_EQ(errno, 7) << "errno is kept";
}

TEST(futex, a_deadline_in_the_past_times_out) {
    std::atomic<std::uint32_t> word{0};
    EXPECT_EQ(futex_wait(word, 0, 1), wait_result::timed_out);
    EXPECT_EQ(futex_wait(word, 0, 0), wait_result::timed_out);
}

TEST(futex, wakes_as_many_as_asked) {
    std::atomic<std::uint32_t> word{0};
    std::atomic<int> awake{0};
    std::vector<std::thread> sleepers;
    for (int i = 0; i < 3; ++i) {
        sleepers.emplace_back([&] {
            while (word.load(std::memory_order_acquire) == 0) { // pairs with the release store below
                static_cast<void>(futex_wait(word, 0));
            }
            awake.fetch_add(1, std::memory_order_relaxed);
        });
    }
    word.store(1, std::memory_order_release);
    while (awake.load(std::memory_order_relaxed) < 3) {
        EXPECT_LE(futex_wake(word, 1), 1);
    }
    for (auto& sleeper : sleepers) {
        sleeper.join();
    }
    EXPECT_EQ(futex_wake(word, 100), 0);
}

TEST(futex, sleeps_without_a_deadline_until_woken) {
    std::atomic<std::uint32_t> word{0};
    std::thread sleeper([&] {
        while (word.load(std::memory_order_acquire) == 0) { // pairs with the release store below
            EXPECT_NE(futex_wait(word, 0, k_no_deadline), wait_result::timed_out);
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    word.store(1, std::memory_order_release);
    futex_wake(word, 1);
    sleeper.join();
}

void wait_on_memory_that_is_not_there() {
    void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static_cast<void>(futex_wait(*static_cast<std::atomic<std::uint32_t>*>(page), 0));
}

TEST(futex_death_test, word_is_not_mapped) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(wait_on_memory_that_is_not_there(), "tulle: futex wait on 0x[0-9a-f]+ failed with errno 14; the word must be mapped");
}

} // namespace

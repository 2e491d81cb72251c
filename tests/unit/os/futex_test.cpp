// SPDX-License-Identifier: Apache-2.0
#include "os/futex.hpp"

#include "os/shared_memory.hpp"

#include <atomic>
#include <cerrno>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

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
    while (result == wait_result::woken || result == wait_result::interrupted) {
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
            // Pairs with the release store below.
            while (word.load(std::memory_order_acquire) == 0) {
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

TEST(shared_futex, ends_as_the_private_one_does) {
    std::atomic<std::uint32_t> word{0};
    errno = 7;
    EXPECT_EQ(shared_futex_wait(word, 1), wait_result::value_changed);
    EXPECT_EQ(shared_futex_wait(word, 0, 1), wait_result::timed_out);
    EXPECT_EQ(shared_futex_wake(word, 100), 0);
    EXPECT_EQ(errno, 7) << "errno is kept";
}

// The same memory at two addresses, as in two processes.
struct word_mapped_twice {
    using word = std::atomic<std::uint32_t>;

    shared_memory first = shared_memory::create("tulle-test", sizeof(word));
    shared_memory second = shared_memory::adopt(dup(first.descriptor()));
    word& here = *::new (static_cast<void*>(first.low())) word{0};
    word& there = *reinterpret_cast<word*>(second.low());
};

TEST(shared_futex, is_that_of_the_memory_and_not_of_the_address) {
    word_mapped_twice w;
    ASSERT_NE(&w.here, &w.there);
    std::thread sleeper([&] {
        while (w.here.load(std::memory_order_acquire) == 0) { // pairs with the release store below
            EXPECT_NE(shared_futex_wait(w.here, 0), wait_result::timed_out);
        }
    });
    // Until it sleeps, and is found.
    while (shared_futex_wake(w.there, 1) == 0) std::this_thread::yield();
    w.there.store(1, std::memory_order_release);
    shared_futex_wake(w.there, 1);
    sleeper.join();
}

void wait_on_memory_that_is_not_there() {
    void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static_cast<void>(futex_wait(*static_cast<std::atomic<std::uint32_t>*>(page), 0));
}

TEST(futex_death_test, word_is_not_mapped) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(wait_on_memory_that_is_not_there(),
                 "tulle: futex wait on 0x[0-9a-f]+ failed with errno 14; the word must be mapped");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "os/membarrier.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

#include <gtest/gtest.h>

#include "base/cache_line.hpp"

namespace {

using namespace tulle::os;

constexpr int k_end = -1;

// False: there will be no more rounds. Gives the processor up now and then: there may be but one.
bool wait_for(std::atomic<int> const& word, int value) {
    for (int k = 1;; ++k) {
        int const now = word.load(std::memory_order_acquire); // pairs with the releases below
        if (now == value || now == k_end) return now == value;
        tulle::base::cpu_pause();
        if (k % 1024 == 0) sched_yield();
    }
}

TEST(membarrier, registers_more_than_once) {
    ASSERT_TRUE(membarrier_register()) << "this kernel refuses membarrier(2)";
    EXPECT_TRUE(membarrier_register());
    membarrier_heavy();
}

// The store-load handshake (Dekker): with a compiler barrier on one side and the heavy one on the
// other, not both loads may miss the other side's store.
TEST(membarrier, makes_a_store_load_handshake_safe) {
    if (!membarrier_register()) {
        GTEST_SKIP() << "this kernel refuses membarrier(2)";
    }
    constexpr int k_rounds = 2'000;
    std::atomic<int> mine{0}, theirs{0}, round{0}, finished{0};
    std::atomic<int> light_saw{0};
    std::thread light([&] {
        for (int i = 1; wait_for(round, i); ++i) {
            mine.store(i, std::memory_order_relaxed);
            tulle::base::compiler_barrier();
            light_saw.store(theirs.load(std::memory_order_relaxed), std::memory_order_relaxed);
            finished.store(i, std::memory_order_release); // pairs with wait_for
        }
    });
    int both_missed = 0;
    // Beside busy processes a round takes two time slices.
    auto const enough = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (int i = 1; i <= k_rounds && std::chrono::steady_clock::now() < enough; ++i) {
        round.store(i, std::memory_order_release); // pairs with wait_for
        theirs.store(i, std::memory_order_relaxed);
        membarrier_heavy();
        int const heavy_saw = mine.load(std::memory_order_relaxed);
        static_cast<void>(wait_for(finished, i));
        both_missed += heavy_saw != i && light_saw.load(std::memory_order_relaxed) != i ? 1 : 0;
    }
    round.store(k_end, std::memory_order_release); // pairs with wait_for
    light.join();
    EXPECT_EQ(both_missed, 0);
}

TEST(membarrier_death_test, not_registered) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        membarrier_heavy(),
        R"(tulle: membarrier failed with errno [0-9]+; was membarrier_register\(\) asked first\?)");
}

} // namespace

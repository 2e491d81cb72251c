// SPDX-License-Identifier: Apache-2.0
//
// The run time for a test: started with so many workers, stopped afterwards, which fails if
// anything is still alive.
// And the smallest things to wait for, for tests of what lies below the synchronisation primitives.
#pragma once

#include "sched/records/join_word.hpp"
#include "sched/scheduler.hpp"

#include <tulle/tulle.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

// Exactly so many: nobody runs in place of a worker that computes or waits in the system for long,
// as slow machines make them.
class over_workers : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        tulle::set_option("max_substitutes", "off");
        tulle::initialize({.workers = GetParam()});
    }
    void TearDown() override { tulle::finalize(); }
};

/// An event with at most one waiter.
class one_shot {
public:
    void wait() {
        tulle::sched::fiber& self = tulle::sched::this_fiber();
        if (!word().is_done()) tulle::sched::suspend(&post_wait, this, &self);
    }
    void fire() {
        auto* const waiter = reinterpret_cast<tulle::sched::fiber*>(word().finish());
        if (waiter != nullptr) tulle::sched::resume(*waiter);
    }

private:
    tulle::sched::join_word<std::atomic<std::uintptr_t>> word() {
        return tulle::sched::join_word(m_word);
    }
    static void post_wait(void* self, void* waiter) noexcept {
        auto& f = *static_cast<tulle::sched::fiber*>(waiter);
        if (!static_cast<one_shot*>(self)->word().set_waiter(
                reinterpret_cast<std::uintptr_t>(waiter)))
            tulle::sched::resume(f);
    }

    std::atomic<std::uintptr_t> m_word{tulle::detail::k_running};
};

/// Keeps the OS thread busy without a call of the run time.
inline void compute_until(std::atomic<bool> const& flag) {
    while (!flag.load(std::memory_order_acquire)) tulle::detail::cpu_pause();
}
inline void yield_until(std::atomic<bool> const& flag) {
    while (!flag.load(std::memory_order_acquire)) tulle::this_thread::yield();
}

/// From TULLE_TEST_SEED, else drawn; printed, so that a failure can be repeated.
inline std::uint64_t test_seed() {
    char const* const given = std::getenv("TULLE_TEST_SEED");
    std::uint64_t const seed =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cout << "TULLE_TEST_SEED=" << seed << std::endl;
    return seed;
}

// SPDX-License-Identifier: Apache-2.0
//
// All of the synchronisation at once: Tulle threads and foreign OS threads do seeded random steps,
// and in the end the counts must fit.
// No benchmark. TULLE_TEST_SEED repeats the choices of a run, TULLE_STRESS_SECONDS makes it longer.
#include "stress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using tulle::base::rng;

// An account that must be consistent whenever its mutex is free, and a condition that it is not
// empty.
struct account {
    tulle::mutex lock;
    tulle::condition_variable filled;
    long balance = 0;
    long moves = 0;
};

struct totals {
    std::atomic<long> put{0}, taken{0}, moves{0}, refused{0};
};

void put(account& a, totals& t, rng& r) {
    std::lock_guard const held(a.lock);
    ++a.balance;
    ++a.moves;
    if (r.below(8) == 0) tulle::this_thread::yield(); // with the mutex held
    a.filled.notify_one();
    ++t.put;
    ++t.moves;
}

void take(account& a, totals& t, rng& r) {
    std::unique_lock held(a.lock);
    if (!a.filled.wait_for(held, brief(r), [&a] { return a.balance > 0; })) {
        ++t.refused;
        return;
    }
    --a.balance;
    ++a.moves;
    ++t.taken;
    ++t.moves;
}

void touch_in_time(account& a, totals& t, rng& r) {
    if (!a.lock.try_lock_for(brief(r))) {
        ++t.refused;
        return;
    }
    ++a.moves;
    ++t.moves;
    if (r.below(50) == 0) tulle::this_thread::sleep_for(brief(r));
    a.lock.unlock();
}

TEST(sync_stress, mutexes_and_conditions) {
    print_seed("mutexes_and_conditions");
    std::array<account, 3> accounts;
    totals t;
    auto const end = end_of_run(3);
    run_mixed(24, 3, [&](int, rng& r) {
        while (clock_type::now() < end) {
            account& a = accounts[r.below(3)];
            switch (r.below(4)) {
                case 0: put(a, t, r); break;
                case 1: take(a, t, r); break;
                case 2: touch_in_time(a, t, r); break;
                default: tulle::this_thread::yield();
            }
        }
    });
    long balance = 0;
    long moves = 0;
    for (account const& a : accounts) {
        balance += a.balance;
        moves += a.moves;
    }
    EXPECT_EQ(balance, t.put.load() - t.taken.load());
    EXPECT_EQ(moves, t.moves.load());
    std::printf("%ld moves, %ld refused\n", moves, t.refused.load());
}

// Everybody passes every phase, some of them after withdrawing now and then.
TEST(sync_stress, barriers_with_time_outs) {
    print_seed("barriers_with_time_outs");
    constexpr int k_green = 6;
    constexpr int k_foreign = 2;
    constexpr int k_phases = 3000;
    tulle::barrier b(k_green + k_foreign);
    std::array<std::atomic<int>, k_green + k_foreign> phase{};
    std::atomic<long> withdrawn{0};
    std::atomic<int> errors{0};
    run_mixed(k_green, k_foreign, [&](int self, rng& r) {
        for (int p = 1; p <= k_phases; ++p) {
            phase[static_cast<std::size_t>(self)].store(p);
            if (r.below(3) == 0)
                while (!b.arrive_and_wait_for(brief(r))) ++withdrawn;
            else
                b.arrive_and_wait();
            for (auto const& other : phase) errors += other.load() < p || other.load() > p + 1;
        }
    });
    EXPECT_EQ(errors.load(), 0);
    std::printf("%d phases, %ld withdrawals\n", k_phases, withdrawn.load());
}

struct request {
    tulle::signal done{1};
    tulle::latch all{3};
    tulle::once_flag once;
    int value = 0;
    std::atomic<int> calls{0};

    void use(rng& r) {
        tulle::call_once(once, [this, &r] {
            if (r.below(4) == 0) tulle::this_thread::yield();
            value = 1;
            ++calls;
        });
        all.count_down();
    }
};

// Short-lived latches, signals and flags on the stack, destroyed as soon as that is allowed.
TEST(sync_stress, short_lived_latches_signals_and_flags) {
    print_seed("short_lived_latches_signals_and_flags");
    auto const end = end_of_run(3);
    std::atomic<long> rounds{0};
    std::atomic<int> errors{0};
    run_mixed(6, 2, [&](int self, rng& r) {
        for (std::uint64_t round = 0; clock_type::now() < end; ++round, ++rounds) {
            request q;
            auto helper = [&q, s = seed() + round + static_cast<std::uint64_t>(self)] {
                rng mine(s);
                q.use(mine);
            };
            auto first = tulle::spawn(helper);
            auto second = tulle::spawn([&q, helper] {
                helper();
                q.done.notify();
            });
            q.use(r);
            if (r.below(2) == 0)
                while (!q.done.wait_for(brief(r))) {}
            else
                q.done.wait();
            while (!q.all.wait_for(brief(r))) {}
            errors += q.value != 1 || q.calls.load() != 1;
            first.join();
            second.join();
        }
    });
    EXPECT_EQ(errors.load(), 0);
    EXPECT_GT(rounds.load(), 100);
    std::printf("%ld rounds\n", rounds.load());
}

} // namespace

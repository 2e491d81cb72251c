// SPDX-License-Identifier: Apache-2.0
//
// The lock of PARMACS: one at a time holds it, sees what the last one did, and nobody sleeps for
// ever, whether the lock is handed over or not.
#include "compat/parmacs/lock_core.hpp"
#include "sync/signal_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using machine = model::parking::machine;

struct sleeper : parmacs::lock_entry<machine> {
    sync::signal_core<model::parking> signal;
};

struct seen {
    long sleeps = 0;
    long granted = 0;
    long left = 0; // in two steps
};

// How a holder lets the next one have the lock.
enum class unlocks { at_once, in_two_steps };

struct counter {
    model::parking_world world;
    parmacs::lock_core<machine> lock;
    model::plain<int> value{0};
    seen all;

    void take(unsigned patience) {
        if (lock.try_lock()) return;
        for (unsigned tries = 0;; ++tries) {
            sleeper own;
            own.signal.open(1);
            if (lock.enter(own, tries != 0, tries > patience)) return;
            ++all.sleeps;
            model::check(own.signal.wait() == sync::signal_error::none, "it is the only waiter");
            if (!own.is_granted.load()) continue;
            ++all.granted;
            return;
        }
    }
    void release(unlocks how) {
        if (how == unlocks::in_two_steps && lock.begin_leaving()) {
            ++all.left;
            value.store(value.load() + 1); // it still is the only one
            return lock.end_leaving();
        }
        if (how == unlocks::in_two_steps) value.store(value.load() + 1);
        auto const r = lock.unlock();
        model::check(r.was_held, "it is held");
        if (r.to_tell != nullptr)
            model::check(static_cast<sleeper*>(r.to_tell)->signal.notify() ==
                             sync::signal_error::none,
                         "each is told once");
    }
    void count_up(int times, unsigned patience, unlocks how) {
        for (int k = 0; k < times; ++k) {
            take(patience);
            if (how == unlocks::at_once) value.store(value.load() + 1);
            release(how);
        }
    }
};

model::test_body body(int threads, int times, unsigned patience, seen* all = nullptr,
                      unlocks how = unlocks::at_once) {
    return [=](model::test& t) {
        auto& c = t.make<counter>();
        for (int k = 0; k < threads; ++k) t.thread([=, &c] { c.count_up(times, patience, how); });
        t.at_end([=, &c] {
            model::check(c.value.load() == threads * times, "nobody was there at the same time");
            model::check(!c.lock.unlock().was_held, "it is free in the end");
            model::check(c.lock.try_lock() && c.lock.unlock().to_tell == nullptr, "nobody is told");
            if (all == nullptr) return;
            all->sleeps += c.all.sleeps;
            all->granted += c.all.granted;
            all->left += c.all.left;
        });
    };
}

// What a holder stores before it begins to leave, and what it looks for afterwards, beside one that
// stores and looks the other way round, with a fence between: one of them sees the other.
model::test_body fence_body(long* left) {
    return [=](model::test& t) {
        struct shared {
            counter locked;
            model::atomic<int> stored{0};
            model::atomic<int> wanted{0};
            bool sees_wish = false;
            bool sees_store = false;
        };
        auto& s = t.make<shared>();
        t.thread([&s, left] {
            s.locked.take(0);
            s.stored.store(1, std::memory_order_relaxed);
            model::check(s.locked.lock.begin_leaving(), "nobody else uses the lock");
            ++*left;
            s.sees_wish = s.wanted.load(std::memory_order_relaxed) != 0;
            s.locked.lock.end_leaving();
        });
        t.thread([&s] {
            s.wanted.store(1, std::memory_order_relaxed);
            machine::fence_seq_cst();
            s.sees_store = s.stored.load(std::memory_order_relaxed) != 0;
        });
        t.at_end([&s] { model::check(s.sees_wish || s.sees_store, "one sees the other"); });
    };
}

TEST(parmacs_lock, of_two_exhaustively) {
    seen all;
    model::result const r =
        model::explore("parmacs_lock_2", model::without_heavy_fence(model::exhaustive(2, 200000)),
                       body(2, 2, 0, &all));
    EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
    EXPECT_GT(all.sleeps, 100);
}

TEST(parmacs_lock, left_in_two_steps_exhaustively) {
    seen all;
    model::result const r = model::explore("parmacs_lock_leaving_2",
                                           model::without_heavy_fence(model::exhaustive(2, 400000)),
                                           body(2, 2, 0, &all, unlocks::in_two_steps));
    EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
    EXPECT_GT(all.left, 100);
    EXPECT_GT(all.sleeps, 100);
}

TEST(parmacs_lock, left_in_two_steps_by_three) {
    seen all;
    model::result const r =
        model::explore("parmacs_lock_leaving_3", model::without_heavy_fence(model::random(40000)),
                       body(3, 2, 0, &all, unlocks::in_two_steps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(all.left, 100);
    EXPECT_GT(all.granted, 100);
}

TEST(parmacs_lock, begins_to_leave_by_a_fence) {
    long left = 0;
    model::result const r =
        model::explore("parmacs_lock_fence", model::exhaustive(3, 200000), fence_body(&left));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(left, 0);
}

TEST(parmacs_lock, is_handed_over_to_those_that_were_told_in_vain) {
    seen all;
    model::result const r = model::explore(
        "parmacs_lock_3", model::without_heavy_fence(model::random(40000)), body(3, 2, 0, &all));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(all.granted, 100);
    EXPECT_GT(all.sleeps, 2 * all.granted);
}

TEST(parmacs_lock, need_not_be_handed_over) {
    model::result const r = model::explore(
        "parmacs_lock_patient", model::without_heavy_fence(model::random(20000)), body(3, 2, 100));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(parmacs_lock, every_order_is_needed) {
    auto const o = model::without_heavy_fence(model::random(20000));
    auto mutants = model::weaken_each("parmacs_lock_weakened", o, body(3, 2, 0));
    mutants = model::found_by_any(
        mutants, model::weaken_each("parmacs_lock_leaving_weakened", o,
                                    body(3, 2, 0, nullptr, unlocks::in_two_steps)));
    long left = 0;
    mutants = model::found_by_any(
        mutants, model::weaken_each("parmacs_lock_fence_weakened", o, fence_body(&left)));
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file != "lock_core.hpp"; });
    EXPECT_GE(mutants.size(), 6U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

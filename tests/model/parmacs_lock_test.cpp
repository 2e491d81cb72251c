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
};

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
    void release() {
        auto const r = lock.unlock();
        model::check(r.was_held, "it is held");
        if (r.to_tell != nullptr)
            model::check(static_cast<sleeper*>(r.to_tell)->signal.notify() ==
                             sync::signal_error::none,
                         "each is told once");
    }
    void count_up(int times, unsigned patience) {
        for (int k = 0; k < times; ++k) {
            take(patience);
            value.store(value.load() + 1);
            release();
        }
    }
};

model::test_body body(int threads, int times, unsigned patience, seen* all = nullptr) {
    return [=](model::test& t) {
        auto& c = t.make<counter>();
        for (int k = 0; k < threads; ++k)
            t.thread([&c, times, patience] { c.count_up(times, patience); });
        t.at_end([=, &c] {
            model::check(c.value.load() == threads * times, "nobody was there at the same time");
            model::check(!c.lock.unlock().was_held, "it is free in the end");
            model::check(c.lock.try_lock() && c.lock.unlock().to_tell == nullptr, "nobody is told");
            if (all == nullptr) return;
            all->sleeps += c.all.sleeps;
            all->granted += c.all.granted;
        });
    };
}

TEST(parmacs_lock, of_two_exhaustively) {
    seen all;
    model::result const r =
        model::explore("parmacs_lock_2", model::without_heavy_fence(model::exhaustive(3, 200000)),
                       body(2, 2, 0, &all));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(all.sleeps, 100);
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
    auto const mutants = model::weaken_each(
        "parmacs_lock_weakened", model::without_heavy_fence(model::random(20000)), body(3, 2, 0));
    auto of_lock = mutants;
    std::erase_if(of_lock,
                  [](model::mutant const& m) { return m.change.where.file != "lock_core.hpp"; });
    EXPECT_GE(of_lock.size(), 4U);
    EXPECT_EQ(model::survivors(of_lock), "");
}

} // namespace

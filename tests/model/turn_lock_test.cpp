// SPDX-License-Identifier: Apache-2.0
//
// The lock whose waiters take turns: no two holders, no lost wake-up (it would show as a deadlock),
// and whoever waits in turn has it next, whatever the last holder does. With a heavy fence and
// without.
#include "dsm/turn_lock.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

struct guarded {
    dsm::basic_turn_lock<machine> lock;
    explicit guarded(bool asymmetric) : lock(asymmetric) {}

    model::plain<int> value{0};
    model::atomic<int> times_in_turn{0};

    void add() { value.store(value.load() + 1); }
    void add_at_once_or_in_turn() {
        if (!lock.try_lock()) lock.lock_in_turn();
        add();
        lock.unlock();
    }
    void add_in_turn() {
        lock.lock_in_turn();
        add();
        times_in_turn.fetch_add(1, relaxed);
        lock.unlock();
    }
};

model::test_body some_add(int in_turn, int at_once, bool asymmetric = true) {
    return [=](model::test& t) {
        auto& g = t.make<guarded>(asymmetric);
        for (int k = 0; k < in_turn; ++k) t.thread([&g] { g.add_in_turn(); });
        for (int k = 0; k < at_once; ++k) t.thread([&g] { g.add_at_once_or_in_turn(); });
        t.at_end([=, &g] {
            model::check(g.value.load() == in_turn + at_once, "each has added once");
            model::check(g.lock.try_lock(), "it is free");
        });
    };
}

TEST(turn_lock, two_take_it) {
    for (int const in_turn : {1, 2}) {
        model::result r =
            model::explore("turn_lock_two_" + std::to_string(in_turn), model::exhaustive(3, 400000),
                           some_add(in_turn, 2 - in_turn));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
        r = model::explore("turn_lock_two_symmetric_" + std::to_string(in_turn),
                           model::without_heavy_fence(model::exhaustive(3, 400000)),
                           some_add(in_turn, 2 - in_turn, false));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    }
}

TEST(turn_lock, several_take_it) {
    model::result r = model::explore("turn_lock_several", model::random(20000), some_add(2, 2));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("turn_lock_several_symmetric",
                       model::without_heavy_fence(model::random(20000)), some_add(2, 2, false));
    EXPECT_TRUE(r.passed()) << r;
}

// As one that spins on a word far away does.
model::test_body one_takes_it_again_and_again() {
    return [=](model::test& t) {
        auto& g = t.make<guarded>(true);
        static_cast<void>(g.lock.try_lock());
        t.thread([&g] {
            while (!g.lock.is_wanted()) machine::pause();
            g.lock.unlock();
            if (!g.lock.try_lock()) return;
            model::check(g.times_in_turn.load(relaxed) == 1, "whoever waits in turn has it first");
            g.lock.unlock();
        });
        t.thread([&g] { g.add_in_turn(); });
    };
}

TEST(turn_lock, who_waits_in_turn_has_it_next) {
    model::result const r = model::explore("turn_lock_next", model::exhaustive(3, 400000),
                                           one_takes_it_again_and_again());
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(turn_lock, every_order_is_needed) {
    auto mutants = model::weaken_each("turn_lock_weak", model::random(6000), some_add(2, 1));
    mutants = model::found_by_any(
        mutants, model::weaken_each("turn_lock_weak_two", model::random(6000), some_add(1, 1)));
    auto const symmetric =
        model::weaken_each("turn_lock_weak_symmetric",
                           model::without_heavy_fence(model::random(6000)), some_add(1, 1, false));
    mutants.insert(mutants.end(), symmetric.begin(), symmetric.end());
    // The turn is stored with release and loaded with acquire, so that the lock is not wanted any
    // more before the next one of the queue wants it. The explorer keeps the stores of a thread in
    // order, so that none of its executions needs that. The other store is the one of unlock.
    unsigned turn_is_stored_at = ~0U;
    for (model::mutant const& m : mutants)
        if (m.change.where.kind == model::access_kind::store)
            turn_is_stored_at = std::min(turn_is_stored_at, m.change.where.line);
    std::erase_if(mutants, [=](model::mutant const& m) {
        return m.change.where.kind == model::access_kind::load ||
               m.change.where.line == turn_is_stored_at;
    });
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

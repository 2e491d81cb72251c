// SPDX-License-Identifier: Apache-2.0
//
// The semaphore: units are neither lost nor made, nobody overtakes those who wait, limits race with
// units that are given.
#include "sync/semaphore_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking;

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

struct store {
    explicit store(std::uint64_t units) { semaphore.open(units); }

    model::parking_world world;
    model::cancellation token;
    sync::semaphore_core<parking> semaphore;
    model::plain<int> inside; // with one unit: a critical section
    model::atomic<int> taken{0};
    model::atomic<int> refused{0};

    void take() {
        semaphore.acquire();
        taken.fetch_add(1, relaxed);
    }
    void take_in_time() {
        if (semaphore.acquire_until({2, &token}))
            taken.fetch_add(1, relaxed);
        else
            refused.fetch_add(1, relaxed);
    }
    void give(std::uint64_t units) { model::check(semaphore.release(units), "not too many"); }
    void visit(int times) {
        for (int k = 0; k < times; ++k) {
            semaphore.acquire();
            inside.store(inside.load() + 1);
            give(1);
        }
    }
    void check_rest(int given) {
        model::check(static_cast<int>(semaphore.count()) + taken.load(relaxed) == given,
                     "units are taken or left");
        model::check(!semaphore.has_waiters(), "nobody is left in the queue");
    }
};

TEST(semaphore, of_one_unit_excludes) {
    int parks = 0;
    model::result const r =
        model::explore("semaphore_mutex", random(40000), [&parks](model::test& t) {
            auto& s = t.make<store>(1U);
            for (int k = 0; k < 3; ++k) t.thread([&s] { s.visit(2); });
            t.at_end([&s, &parks] {
                model::check(s.inside.load() == 6, "one at a time");
                s.check_rest(1);
                parks += s.world.parks;
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST(semaphore, a_taker_and_a_giver_exhaustively) {
    model::options const o = model::without_heavy_fence(model::exhaustive(2, 200000));
    model::result const r = model::explore("semaphore_two", o, [](model::test& t) {
        auto& s = t.make<store>(0U);
        t.thread([&s] { s.take(); });
        t.thread([&s] { s.give(2); });
        t.at_end([&s] { s.check_rest(2); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(semaphore, limits_take_nothing) {
    int refused = 0;
    model::result const r =
        model::explore("semaphore_timed", random(60000), [&refused](model::test& t) {
            auto& s = t.make<store>(0U);
            for (int k = 0; k < 2; ++k) t.thread([&s] { s.take_in_time(); });
            t.thread([&s] { s.take(); });
            t.thread([&s] { s.give(1); });
            t.thread([&s] { s.give(2); });
            t.thread([&s] { s.token.request(); });
            t.thread([&s] { s.world.time_passes(); });
            t.at_end([&s, &refused] {
                s.check_rest(3);
                refused += s.refused.load(relaxed);
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(refused), r.executions / 60);
}

TEST(semaphore, every_order_is_needed) {
    auto mutants = model::weaken_each("semaphore_weakened", random(20000), [](model::test& t) {
        auto& s = t.make<store>(0U);
        t.thread([&s] {
            s.inside.store(1);
            s.give(2);
        });
        t.thread([&s] { // what it gives up may be left for the other
            if (s.semaphore.acquire_until(2))
                model::check(s.inside.load() == 1, "what the giver did is there");
        });
        t.thread([&s] {
            if (s.semaphore.try_acquire())
                model::check(s.inside.load() == 1, "what the giver did is there");
        });
        t.thread([&s] { s.world.time_passes(); });
    });
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "semaphore_core.hpp";
    });
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

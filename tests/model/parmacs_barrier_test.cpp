// SPDX-License-Identifier: Apache-2.0
//
// The barrier of PARMACS: nobody leaves before all have come and sees what they did, whether it
// looks or sleeps; nobody sleeps for ever; subscripts begin again.
#include "compat/parmacs/barrier_core.hpp"
#include "compat/parmacs/lock_core.hpp"
#include "os/machine.hpp"
#include "sync/signal_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace tulle;
using machine = model::parking::machine;

struct sleeper : parmacs::lock_entry<machine> {
    sync::signal_core<model::parking> signal;
};

struct seen {
    long sleeps = 0;
    long looks = 0; // that found that the round was over
    long late = 0;  // found it so under the lock
};

struct meeting {
    model::parking_world world;
    parmacs::barrier_core<machine, sleeper> barrier;
    std::array<model::plain<int>, 3> turns{};
    seen all;

    void wait(int threads, bool looks) {
        auto const own = barrier.arrive(threads);
        if (own.is_last) {
            for (auto* each = own.to_tell; each != nullptr;) {
                auto* const next =
                    static_cast<sleeper*>(each->after.load()); // it may be gone once it is told
                model::check(each->signal.notify() == sync::signal_error::none, "told once");
                each = next;
            }
            return;
        }
        if (looks && barrier.is_over(own.round)) {
            ++all.looks;
            return;
        }
        sleeper entry;
        entry.signal.open(1);
        if (!barrier.enter(own.round, entry)) {
            ++all.late;
            return;
        }
        ++all.sleeps;
        model::check(entry.signal.wait() == sync::signal_error::none, "it is the only waiter");
    }
    // Two barriers for each round, so that nobody stores while others load.
    void take_part(std::size_t number, int threads, int rounds, bool looks) {
        for (int k = 1; k <= rounds; ++k) {
            turns[number].store(k);
            wait(threads, looks);
            for (int j = 0; j < threads; ++j)
                model::check(turns[static_cast<std::size_t>(j)].load() == k, "all have come");
            wait(threads, looks);
        }
    }
};

model::test_body body(int threads, int rounds, bool looks, seen* all = nullptr) {
    return [=](model::test& t) {
        auto& m = t.make<meeting>();
        for (int k = 0; k < threads; ++k)
            t.thread([&m, k, threads, rounds, looks] {
                m.take_part(static_cast<std::size_t>(k), threads, rounds, looks);
            });
        t.at_end([all, &m] {
            if (all == nullptr) return;
            all->sleeps += m.all.sleeps;
            all->looks += m.all.looks;
            all->late += m.all.late;
        });
    };
}

void expect_all_ways(char const* name, model::options const& how, bool is_exhaustive) {
    seen all;
    model::result const r = model::explore(name, how, body(2, 1, true, &all));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(!is_exhaustive || r.is_as_complete_as_asked()) << r;
    EXPECT_GT(all.sleeps, 100);
    EXPECT_GT(all.looks, 50);
    EXPECT_GT(all.late, 10);
}

TEST(parmacs_barrier, of_two_exhaustively) {
    expect_all_ways("parmacs_barrier_2", model::without_heavy_fence(model::exhaustive(1, 200000)),
                    true);
}

TEST(parmacs_barrier, of_two) {
    expect_all_ways("parmacs_barrier_2_random", model::without_heavy_fence(model::random(100000)),
                    false);
}

TEST(parmacs_barrier, of_three) {
    model::result const r = model::explore(
        "parmacs_barrier_3", model::without_heavy_fence(model::random(20000)), body(3, 2, true));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(parmacs_barrier, of_those_that_sleep_at_once) {
    model::result const r =
        model::explore("parmacs_barrier_asleep", model::without_heavy_fence(model::random(20000)),
                       body(3, 2, false));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(parmacs_barrier, every_order_is_needed) {
    auto const mutants =
        model::weaken_each("parmacs_barrier_weakened",
                           model::without_heavy_fence(model::random(20000)), body(3, 2, true));
    auto of_barrier = mutants;
    std::erase_if(of_barrier,
                  [](model::mutant const& m) { return m.change.where.file != "barrier_core.hpp"; });
    EXPECT_GE(of_barrier.size(), 2U);
    EXPECT_EQ(model::survivors(of_barrier), "");
}

TEST(parmacs_barrier, subscripts_begin_again) {
    using native_entry = parmacs::lock_entry<os::machine>;
    parmacs::barrier_core<os::machine, native_entry> loop;
    for (int round = 0; round < 3; ++round) {
        std::int64_t next = 0;
        for (std::int64_t k = 0; k <= 4; ++k)
            EXPECT_TRUE(loop.take_subscript(4, next) && next == k) << k;
        EXPECT_FALSE(loop.take_subscript(4, next));
        EXPECT_TRUE(loop.arrive(1).is_last);
    }
}

} // namespace

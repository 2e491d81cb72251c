// SPDX-License-Identifier: Apache-2.0
//
// Waiters in lists: those of a latch and of a barrier, with the waker, the timer and the end of the
// primitive's life racing.
#include "sync/barrier_core.hpp"
#include "sync/condition_core.hpp"
#include "sync/latch_core.hpp"
#include "sync/once_core.hpp"
#include "sync/spin_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

// -- latch

struct gate {
    explicit gate(int count) { latch.emplace().open(count); }

    model::parking_world world;
    std::optional<sync::latch_core<model::parking>> latch; // its storage stays when it is destroyed
    std::array<model::plain<int>, 2> parts;
    model::atomic<int> passed{0};
    model::atomic<int> refused{0};

    void arrive(std::size_t who) {
        auto& l = *latch;
        parts[who].store(1);
        l.count_down(1);
    }
    void pass(std::size_t arrivals) {
        latch->wait();
        check_parts(arrivals);
    }
    void pass_in_time(std::size_t arrivals) {
        if (latch->wait_until(2))
            check_parts(arrivals);
        else
            refused.fetch_add(1, relaxed);
    }
    void pass_and_destroy(std::size_t arrivals) {
        pass(arrivals);
        latch.reset(); // an access after this is an error
    }
    void check_parts(std::size_t arrivals) {
        for (std::size_t i = 0; i < arrivals; ++i)
            model::check(parts[i].load() == 1, "all that was done before is there");
        passed.fetch_add(1, relaxed);
    }
};

TEST(latch, releases_all) {
    int parks = 0;
    model::result const r = model::explore("latch_all", random(40000), [&parks](model::test& t) {
        auto& g = t.make<gate>(2);
        for (std::size_t i = 0; i < 2; ++i) t.thread([&g, i] { g.arrive(i); });
        for (int i = 0; i < 2; ++i) t.thread([&g] { g.pass(2); });
        t.at_end([&g, &parks] {
            model::check(g.passed.load(relaxed) == 2, "both passed");
            parks += g.world.parks;
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST(latch, may_be_destroyed_when_it_is_zero) {
    model::options const o = model::without_heavy_fence(model::exhaustive(3, 200000));
    model::result const r = model::explore("latch_destroyed", o, [](model::test& t) {
        auto& g = t.make<gate>(1);
        t.thread([&g] { g.arrive(0); });
        t.thread([&g] { g.pass_and_destroy(1); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

model::test_body timed_latch(int* refused, int* passed) {
    return [=](model::test& t) {
        auto& g = t.make<gate>(2);
        for (std::size_t i = 0; i < 2; ++i) t.thread([&g, i] { g.arrive(i); });
        t.thread([&g] { g.pass_in_time(2); });
        t.thread([&g] { g.pass(2); });
        t.thread([&g] { g.world.time_passes(); });
        t.at_end([=, &g] {
            if (refused != nullptr) *refused += g.refused.load(relaxed);
            if (passed != nullptr) *passed += g.passed.load(relaxed);
        });
    };
}

TEST(latch, time_outs_race_with_the_last) {
    int refused = 0;
    int passed = 0;
    model::result const r =
        model::explore("latch_timed", random(60000), timed_latch(&refused, &passed));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(refused), r.executions / 60);
    EXPECT_GT(static_cast<std::size_t>(passed), r.executions / 60);
}

TEST(latch, every_order_is_needed) {
    auto const mutants =
        model::weaken_each("latch_weakened", random(20000), timed_latch(nullptr, nullptr));
    EXPECT_GE(mutants.size(), 3U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

// A limit starts before the list's lock is released: else the waiter may be woken, and its frame be
// gone, before.
TEST(latch, wakes_while_a_limit_starts) {
    using parking = model::parking_elsewhere;
    struct far_gate {
        model::parking_world world;
        sync::latch_core<parking> latch;
        model::cancellation token;
        bool passed = false;
    };
    int passed = 0;
    model::result const r =
        model::explore("latch_limit_starts", random(10000), [&passed](model::test& t) {
            auto& g = t.make<far_gate>();
            g.latch.open(1);
            t.thread([&g] {
                g.passed = g.latch.wait_until({2, &g.token});
                g.world.end_suspending();
            });
            t.thread([&g] { g.world.run_posts(1); });
            t.thread([&g] { static_cast<void>(g.latch.count_down(1)); });
            t.thread([&g] { g.token.request(); });
            t.at_end([&] { passed += g.passed; });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(passed), r.executions / 20);
    EXPECT_LT(static_cast<std::size_t>(passed), r.executions);
}

// -- barrier

struct meeting {
    explicit meeting(int count) { barrier.open(static_cast<std::uint64_t>(count)); }

    model::parking_world world;
    sync::barrier_core<model::parking> barrier;
    std::array<model::plain<int>, 3> progress;
    int withdrawn = 0; // by one thread only

    void run(std::size_t self, std::size_t count, int phases) {
        for (int phase = 1; phase <= phases; ++phase) {
            progress[self].store(phase);
            barrier.arrive_and_wait();
            for (std::size_t i = 0; i < count; ++i)
                model::check(progress[i].load() == phase, "all have come so far");
            barrier.arrive_and_wait();
        }
    }
    void run_in_time(std::size_t self, std::size_t count) {
        progress[self].store(1);
        for (int k = 0; k < 2; ++k) {
            while (!barrier.arrive_and_wait_until(2)) ++withdrawn;
            for (std::size_t i = 0; i < count; ++i)
                model::check(progress[i].load() == 1, "all have come");
        }
    }
};

TEST(barrier, separates_phases) {
    model::result const r = model::explore("barrier_phases", random(30000), [](model::test& t) {
        auto& m = t.make<meeting>(2);
        for (std::size_t i = 0; i < 2; ++i) t.thread([&m, i] { m.run(i, 2, 2); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(barrier, three_take_part) {
    model::result const r = model::explore("barrier_three", random(30000), [](model::test& t) {
        auto& m = t.make<meeting>(3);
        for (std::size_t i = 0; i < 3; ++i) t.thread([&m, i] { m.run(i, 3, 1); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(barrier, time_outs_withdraw) {
    int withdrawn = 0;
    model::result const r =
        model::explore("barrier_timed", random(60000), [&withdrawn](model::test& t) {
            auto& m = t.make<meeting>(2);
            t.thread([&m] { m.run(0, 2, 1); });
            t.thread([&m] { m.run_in_time(1, 2); });
            t.thread([&m] { m.world.time_passes(); });
            t.at_end([&m, &withdrawn] { withdrawn += m.withdrawn; });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(withdrawn), r.executions / 60);
}

// -- condition, under a mutex that only spins

struct mailbox {
    model::parking_world world;
    base::basic_spin_lock<model::machine> mutex;
    sync::condition_core<model::parking> filled;
    model::plain<int> items{0};
    int taken = 0; // guarded by the mutex
    int gave_up = 0;

    void put() {
        mutex.lock();
        items.store(items.load() + 1);
        mutex.unlock();
        filled.notify_one();
    }
    void take() {
        mutex.lock();
        while (items.load() == 0) {
            filled.wait([this] { mutex.unlock(); });
            mutex.lock();
        }
        take_one();
    }
    void take_in_time() {
        mutex.lock();
        bool in_time = true;
        while (items.load() == 0 && in_time) {
            in_time = filled.wait_until(2, [this] { mutex.unlock(); });
            mutex.lock();
        }
        if (items.load() != 0) return take_one();
        ++gave_up;
        mutex.unlock();
    }
    void take_one() {
        items.store(items.load() - 1);
        ++taken;
        mutex.unlock();
    }
};

TEST(condition, no_notification_is_lost) {
    int parks = 0;
    model::result const r = model::explore("condition", random(40000), [&parks](model::test& t) {
        auto& m = t.make<mailbox>();
        for (int i = 0; i < 2; ++i) t.thread([&m] { m.put(); });
        for (int i = 0; i < 2; ++i) t.thread([&m] { m.take(); });
        t.at_end([&m, &parks] {
            model::check(m.taken == 2 && m.items.load() == 0, "both items were taken");
            parks += m.world.parks;
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST(condition, a_waiter_that_gives_up_takes_no_notification) {
    int gave_up = 0;
    model::result const r =
        model::explore("condition_timed", random(60000), [&gave_up](model::test& t) {
            auto& m = t.make<mailbox>();
            for (int i = 0; i < 2; ++i) t.thread([&m] { m.put(); });
            t.thread([&m] { m.take(); });
            t.thread([&m] { m.take_in_time(); });
            t.thread([&m] { m.world.time_passes(); });
            t.at_end([&m, &gave_up] {
                model::check(m.taken + m.gave_up == 2 && m.taken + m.items.load() == 2,
                             "an item is taken or left");
                gave_up += m.gave_up;
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(gave_up), r.executions / 130);
}

// -- once

struct single {
    model::parking_world world;
    model::atomic<std::uint32_t> state{0};
    sync::once_queue<model::parking> queue;
    model::plain<int> made{0};
    model::plain<int> attempts{0};

    // The first attempt fails.
    void use() {
        sync::once_core<model::parking> calling(state, queue);
        if (!calling.begin()) return model::check(made.load() == 7, "it is made");
        attempts.store(attempts.load() + 1);
        bool const fails = attempts.load() == 1;
        if (!fails) made.store(7);
        calling.finish(!fails);
    }
};

void once_body(model::test& t) {
    auto& s = t.make<single>();
    for (int i = 0; i < 3; ++i) t.thread([&s] { s.use(); });
    t.at_end([&s] {
        model::check(s.attempts.load() == 2 && s.made.load() == 7,
                     "it was done in the second attempt");
    });
}

TEST(once, one_of_the_others_repeats_what_failed) {
    model::result const r = model::explore("once", random(40000), &once_body);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(once, every_order_is_needed) {
    model::options o = random(4000);
    o.weakens = [](model::site const& s) { return s.file == "once_core.hpp"; };
    auto const mutants = model::weaken_each("once_weakened", o, &once_body);
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

// -- the lock that spins

struct spun {
    using core = sync::spin_core<model::parking>;

    model::parking_world world;
    detail::basic_spin_front<model::machine> front;
    model::plain<int> value{0};

    void add(bool tries) {
        if (!(tries && front.try_lock()))
            model::check(core(front).lock_until(wait::limit<model::parking>{detail::k_no_deadline}),
                         "it has no limit");
        value.store(value.load() + 1);
        front.unlock();
    }
};

void spun_body(model::test& t) {
    auto& s = t.make<spun>();
    for (int i = 0; i < 3; ++i) t.thread([&s, i] { s.add(i == 0); });
    t.at_end([&s] {
        model::check(s.value.load() == 3, "each had it alone");
        model::check(s.front.starving.load(relaxed) == 0, "nobody counts as starving in the end");
    });
}

TEST(spin_lock, excludes) {
    model::result const r = model::explore("spin", random(20000), &spun_body);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(spin_lock, every_order_is_needed) {
    auto const mutants = model::weaken_each("spin_weakened", random(4000), &spun_body);
    EXPECT_EQ(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The shared mutex: one writer or readers, no lost wake-up (it would show as a deadlock), turns,
// and limits in both lists.
#include "sync/shared_mutex_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking;

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

struct document {
    model::parking_world world;
    model::cancellation token;
    sync::shared_mutex_core<parking> lock;
    model::plain<int> left{0}, right{0};
    model::atomic<int> readers{0};
    model::atomic<int> most_readers{0};
    model::atomic<int> refused{0};

    void write(bool in_time) {
        if (!in_time)
            lock.lock();
        else if (!lock.lock_until({2, &token}))
            return static_cast<void>(refused.fetch_add(1, relaxed));
        left.store(left.load() + 1);
        model::check(readers.load(relaxed) == 0, "nobody reads");
        right.store(right.load() + 1);
        lock.unlock();
    }
    void read(bool in_time) {
        if (!in_time)
            lock.lock_shared();
        else if (!lock.lock_shared_until({2, &token}))
            return static_cast<void>(refused.fetch_add(1, relaxed));
        int const now = readers.fetch_add(1, relaxed) + 1;
        if (now > most_readers.load(relaxed)) most_readers.store(now, relaxed);
        model::check(left.load() == right.load(), "nobody writes");
        readers.fetch_sub(1, relaxed);
        lock.unlock_shared();
    }
};

struct shape {
    int writers = 0;
    int readers = 0;
    int rounds = 1;
    int timed_writers = 0;
    int timed_readers = 0;
};

struct counts {
    int parks = 0;
    int refused = 0;
    int together = 0;
};

model::test_body body(shape s, counts* seen = nullptr) {
    return [=](model::test& t) {
        auto& d = t.make<document>();
        auto const add = [&](int threads, auto f) {
            for (int k = 0; k < threads; ++k) {
                t.thread([=] {
                    for (int round = 0; round < s.rounds; ++round) f();
                });
            }
        };
        add(s.writers, [&d] { d.write(false); });
        add(s.readers, [&d] { d.read(false); });
        add(s.timed_writers, [&d] { d.write(true); });
        add(s.timed_readers, [&d] { d.read(true); });
        if (s.timed_writers + s.timed_readers > 0) t.thread([&d] { d.world.time_passes(); });
        if (s.timed_writers + s.timed_readers > 0) t.thread([&d] { d.token.request(); });
        t.at_end([=, &d] {
            model::check(!d.lock.is_used(), "it is free in the end, and nobody waits");
            if (seen == nullptr) return;
            seen->parks += d.world.parks;
            seen->refused += d.refused.load(relaxed);
            seen->together += d.most_readers.load(relaxed) > 1 ? 1 : 0;
        });
    };
}

TEST(shared_mutex, writers_and_readers) {
    counts seen;
    model::result const r =
        model::explore("shared_mutex", random(40000), body({.writers = 2, .readers = 3}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    auto const often = static_cast<int>(r.executions / 40);
    EXPECT_GT(seen.parks, often);
    EXPECT_GT(seen.together, often);
}

TEST(shared_mutex, two_rounds) {
    counts seen;
    model::result const r = model::explore("shared_mutex_rounds", random(30000),
                                           body({.writers = 2, .readers = 2, .rounds = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.parks, 1000);
}

TEST(shared_mutex, one_of_each_exhaustively) {
    model::options const o = model::without_heavy_fence(model::exhaustive(2, 300000));
    model::result const r =
        model::explore("shared_mutex_two", o, body({.writers = 1, .readers = 1}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(shared_mutex, limits_in_both_lists) {
    counts seen;
    model::result const r = model::explore(
        "shared_mutex_timed", random(60000),
        body({.writers = 1, .readers = 1, .timed_writers = 1, .timed_readers = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.refused), r.executions / 60);
}

// Readers that wait for the sake of a writer alone go on when it gives up.
TEST(shared_mutex, a_writer_that_gives_up_lets_readers_in) {
    int let_in = 0;
    model::result const r =
        model::explore("shared_mutex_let_in", random(60000), [&let_in](model::test& t) {
            auto& d = t.make<document>();
            auto& stays = t.make<model::atomic<int>>(1);
            // Leaves when the second reader has come in, or the writer has been in.
            t.thread([&d, &stays] {
                d.lock.lock_shared();
                while (stays.load(acquire) == 1) model::machine::pause();
                d.lock.unlock_shared();
            });
            t.thread([&d, &stays] {
                d.lock.lock_shared();
                stays.store(0, release);
                d.lock.unlock_shared();
            });
            t.thread([&d] {
                if (!d.lock.lock_until({detail::k_no_deadline, &d.token}))
                    return static_cast<void>(d.refused.fetch_add(1, relaxed));
                d.lock.unlock();
            });
            t.thread([&d] { d.token.request(); });
            t.at_end([&] { let_in += d.refused.load(relaxed); });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(let_in), r.executions / 10);
}

TEST(shared_mutex, every_order_is_needed) {
    auto mutants = model::weaken_each(
        "shared_mutex_weakened", random(30000),
        body({.writers = 1, .readers = 2, .rounds = 2, .timed_writers = 1, .timed_readers = 1}));
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "shared_mutex_core.hpp";
    });
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

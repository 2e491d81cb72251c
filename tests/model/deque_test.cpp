// SPDX-License-Identifier: Apache-2.0
//
// The asymmetric split deque under every interleaving and stale read the bounds allow: each record
// is run once, by its owner or by a thief, and what the owner wrote into it is visible to whoever
// runs it.
#include "deque/biased_lock.hpp"
#include "deque/split_deque.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace tulle;
using enum std::memory_order;

constexpr std::size_t k_slots = 4; // three can be used
constexpr std::size_t k_tasks = 8;

struct slot {
    model::plain<int> task{-1};
    model::atomic<std::uint32_t> done{0};
};
using deque_type = deque::split_deque<model::machine, slot>;

// A deque, its slots, and how often each task was run.
class bench {
public:
    explicit bench(bool asymmetric) { records.open(slots.data(), slots.size(), asymmetric); }

    void run(slot& s) {
        int const task = s.task.load();
        model::check(task >= 0, "a slot is written before it is run");
        model::check(runs[static_cast<std::size_t>(task)].fetch_add(1, relaxed) == 0,
                     "a task runs once");
    }
    void check_all_ran(int tasks) {
        for (int i = 0; i < tasks; ++i)
            model::check(runs[static_cast<std::size_t>(i)].load(relaxed) == 1, "a task was lost");
        model::check(records.is_empty(), "the deque is empty in the end");
        records.check_invariants();
    }

    deque_type records;
    std::array<slot, k_slots> slots;
    std::array<model::atomic<int>, k_tasks> runs;
};

// What fork and join do.
class owner {
public:
    explicit owner(bench& b) : m_bench(b) {}

    slot& fork(int task) {
        slot* const s = m_bench.records.top();
        model::check(s < m_bench.slots.data() + k_slots - 1, "the last slot is not used");
        s->task.store(task);
        bool const quickly = m_bench.records.publish(s);
        model::check(!quickly || m_bench.records.is_asymmetric(),
                     "without asymmetry each fork comes by the cold path, and is shared there");
        if (!quickly) publish_cold();
        return *s;
    }
    // While there is room; the deque says so in the cold path.
    std::vector<slot*> fork_all() {
        std::vector<slot*> forked;
        for (int task = 0; !m_bench.records.is_full(m_bench.records.top()); ++task)
            forked.push_back(&fork(task));
        return forked;
    }
    // Of the youngest.
    void join(slot& s) {
        if (m_bench.records.retract(&s)) return m_bench.run(s);
        deque::deque_owner cold(m_bench.records);
        if (cold.reclaim(&s) == deque::reclaim_result::mine) return m_bench.run(s);
        wait_for(s);
        cold.settle(&s);
    }
    // Of one with a younger one above it, then of that one.
    void join_out_of_order(slot& older, slot& younger) {
        auto const replace = [&](bool stolen) {
            if (stolen) return;
            m_bench.run(older);
            older.task.store(k_idle);
        };
        bool const stolen = reclaim_below(older, replace);
        join_shared(younger);
        if (stolen) return deque::deque_owner(m_bench.records).settle(&older);
        join(older); // the idle record
    }
    // The oldest of three, then the youngest: the join of the one between them must come to
    // reclaim, too, for the idle record below it.
    void join_around(slot& oldest, slot& middle, slot& youngest) {
        auto const replace = [&](bool stolen) {
            if (stolen) return;
            m_bench.run(oldest);
            oldest.task.store(k_idle);
        };
        bool const oldest_stolen = reclaim_below(oldest, replace);
        join_shared(youngest);
        join_shared(middle);
        if (oldest_stolen) return deque::deque_owner(m_bench.records).settle(&oldest);
        join(oldest); // the idle record
    }
    // Left where a record was taken out of order; runs once or not at all.
    static constexpr int k_idle = k_tasks - 1;

private:
    template <class Replace> bool reclaim_below(slot& s, Replace replace) {
        bool const stolen = deque::deque_owner(m_bench.records).reclaim_below(&s, replace) ==
                            deque::reclaim_result::stolen;
        if (stolen) wait_for(s);
        return stolen;
    }
    // Of the youngest, while there is an idle record below.
    void join_shared(slot& s) {
        model::check(!m_bench.records.retract(&s),
                     "the join comes to where idle records are taken off");
        deque::deque_owner cold(m_bench.records);
        if (cold.reclaim(&s, true) == deque::reclaim_result::mine) return m_bench.run(s);
        wait_for(s);
        cold.settle(&s);
    }
    void publish_cold() {
        if (!m_bench.records.is_asymmetric()) deque::deque_owner(m_bench.records).share_all();
    }
    static void wait_for(slot& s) {
        while (s.done.load(acquire) == 0) model::machine::pause(); // pairs with steal_once
        s.done.store(0, relaxed);
    }
    bench& m_bench;
};

void steal_once(bench& b) {
    slot* const s = deque::deque_thief(b.records).steal();
    if (s == nullptr) return;
    b.run(*s);
    s->done.store(1, release); // pairs with wait_for
}

// The owner forks `depth` and joins them again, `rounds` times; each thief tries `steals` times.
struct shape {
    int depth;
    int rounds;
    int thieves;
    int steals;
    bool asymmetric = true;
};

void fork_and_join(bench& b, shape const& s) {
    owner me(b);
    int task = 0;
    for (int round = 0; round < s.rounds; ++round) {
        std::vector<slot*> forked;
        for (int i = 0; i < s.depth; ++i) forked.push_back(&me.fork(task++));
        for (; !forked.empty(); forked.pop_back()) me.join(*forked.back());
    }
}

model::test_body body(shape s) {
    return [s](model::test& t) {
        auto& b = t.make<bench>(s.asymmetric);
        t.thread([&b, s] { fork_and_join(b, s); });
        for (int i = 0; i < s.thieves; ++i) {
            t.thread([&b, s] {
                for (int n = 0; n < s.steals; ++n) steal_once(b);
            });
        }
        t.at_end([&b, s] { b.check_all_ran(s.depth * s.rounds); });
    };
}

model::options exhaustive(unsigned preemptions, std::size_t executions = 200000) {
    return model::exhaustive(preemptions, executions);
}

using model::random;

TEST(split_deque, smoke) {
    model::result const r = model::explore(
        "deque_smoke", exhaustive(0), body({.depth = 3, .rounds = 2, .thieves = 0, .steals = 0}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_EQ(r.executions, 1U);
}

TEST(split_deque, one_record_one_thief) {
    model::result const r = model::explore(
        "deque_one", exhaustive(3), body({.depth = 1, .rounds = 1, .thieves = 1, .steals = 1}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(split_deque, slots_are_used_again) {
    model::result const r = model::explore(
        "deque_again", exhaustive(2), body({.depth = 1, .rounds = 2, .thieves = 1, .steals = 2}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, half_is_shared) {
    model::result const r = model::explore(
        "deque_half", exhaustive(2), body({.depth = 3, .rounds = 1, .thieves = 1, .steals = 3}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, stampede) {
    model::result const r =
        model::explore("deque_stampede", random(60000),
                       body({.depth = 2, .rounds = 2, .thieves = 3, .steals = 2}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, stress) {
    model::result const r = model::explore(
        "deque_stress", random(60000), body({.depth = 3, .rounds = 2, .thieves = 2, .steals = 4}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, without_heavy_fence) {
    shape const s{.depth = 2, .rounds = 2, .thieves = 2, .steals = 2, .asymmetric = false};
    model::result const r =
        model::explore("deque_symmetric", model::without_heavy_fence(random(60000)), body(s));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, join_out_of_order) {
    model::result const r = model::explore("deque_below", random(60000), [](model::test& t) {
        auto& b = t.make<bench>(true);
        t.thread([&b] {
            owner me(b);
            slot& older = me.fork(0);
            slot& younger = me.fork(1);
            me.join_out_of_order(older, younger);
            me.join(me.fork(2));
        });
        for (int i = 0; i < 2; ++i) {
            t.thread([&b] {
                for (int n = 0; n < 2; ++n) steal_once(b);
            });
        }
        t.at_end([&b] { b.check_all_ran(3); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, joins_above_an_idle_record_come_to_the_lock) {
    model::result const r = model::explore("deque_around", random(20000), [](model::test& t) {
        auto& b = t.make<bench>(true);
        t.thread([&b] {
            owner me(b);
            slot& oldest = me.fork(0);
            slot& middle = me.fork(1);
            slot& youngest = me.fork(2);
            me.join_around(oldest, middle, youngest);
        });
        t.thread([&b] {
            for (int n = 0; n < 2; ++n) steal_once(b);
        });
        t.at_end([&b] { b.check_all_ran(3); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

TEST(split_deque, is_full_before_its_last_slot) {
    for (bool const asymmetric : {true, false}) {
        model::options const o =
            asymmetric ? random(5000) : model::without_heavy_fence(random(5000));
        model::result const r = model::explore("deque_full", o, [asymmetric](model::test& t) {
            auto& b = t.make<bench>(asymmetric);
            t.thread([&b] {
                owner me(b);
                std::vector<slot*> forked = me.fork_all();
                model::check(forked.size() == k_slots - 1 && b.records.capacity() == k_slots - 1,
                             "all slots but the last are used");
                for (; !forked.empty(); forked.pop_back()) me.join(*forked.back());
            });
            t.thread([&b] { steal_once(b); });
            t.at_end([&b] { b.check_all_ran(static_cast<int>(k_slots) - 1); });
        });
        EXPECT_TRUE(r.passed()) << r;
    }
}

// The next owner of a deque finds a thief in it, who has come when the last owner was there.
TEST(split_deque, is_opened_again_beside_a_thief) {
    model::result const r = model::explore("deque_reopened", random(40000), [](model::test& t) {
        auto& b = t.make<bench>(true);
        t.thread([&b] {
            owner me(b);
            me.join(me.fork(0));
            b.records.reopen(true);
            me.join(me.fork(1));
        });
        t.thread([&b] { steal_once(b); });
        t.at_end([&b] { b.check_all_ran(2); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

// Some thief does get something, or the tests above prove nothing.
TEST(split_deque, thieves_are_not_idle) {
    std::array<std::size_t, 3> stolen{};
    model::result const r = model::explore("deque_stolen", random(20000), [&](model::test& t) {
        auto& b = t.make<bench>(true);
        auto& count = t.make<std::size_t>(0U);
        t.thread([&b] { fork_and_join(b, {.depth = 2, .rounds = 1, .thieves = 0, .steals = 0}); });
        t.thread([&] {
            for (int n = 0; n < 2; ++n) {
                slot* const s = deque::deque_thief(b.records).steal();
                if (s == nullptr) continue;
                ++count;
                b.run(*s);
                s->done.store(1, release);
            }
        });
        t.at_end([&] { ++stolen[count]; });
    });
    EXPECT_TRUE(r.passed()) << r;
    for (std::size_t const times : stolen) EXPECT_GT(times, r.executions / 400);
}

// Every order that is stronger than relaxed is needed: weakened, some execution fails.
TEST(split_deque, no_order_is_idle) {
    auto const mutants =
        model::weaken_each("deque_weakened", random(40000),
                           body({.depth = 2, .rounds = 2, .thieves = 2, .steals = 2}));
    EXPECT_GE(mutants.size(), 6U);
    EXPECT_EQ(model::survivors(mutants), "");
}

// -- the biased lock

struct guarded {
    explicit guarded(bool asymmetric) : lock(asymmetric) {}
    deque::biased_lock<model::machine> lock;
    model::plain<int> value{0};
};

model::test_body biased_body(bool asymmetric, int strangers) {
    return [=](model::test& t) {
        auto& g = t.make<guarded>(asymmetric);
        auto& entered = t.make<model::atomic<int>>(0);
        t.thread([&g, &entered] {
            for (int i = 0; i < 2; ++i) {
                g.lock.owner_lock();
                g.value.store(g.value.load() + 1);
                g.lock.owner_unlock();
                entered.fetch_add(1, relaxed);
            }
        });
        for (int i = 0; i < strangers; ++i) {
            t.thread([&g, &entered] {
                if (!g.lock.stranger_try_lock()) return;
                g.value.store(g.value.load() + 1);
                g.lock.stranger_unlock();
                entered.fetch_add(1, relaxed);
            });
        }
        t.at_end(
            [&] { model::check(g.value.load() == entered.load(relaxed), "each entry counted"); });
    };
}

TEST(biased_lock, excludes) {
    model::result const one = model::explore("biased_one", exhaustive(2), biased_body(true, 1));
    EXPECT_TRUE(one.passed()) << one;
    model::result const two = model::explore("biased_two", random(60000), biased_body(true, 2));
    EXPECT_TRUE(two.passed()) << two;
}

TEST(biased_lock, excludes_without_heavy_fence) {
    model::result const r = model::explore(
        "biased_symmetric", model::without_heavy_fence(exhaustive(2)), biased_body(false, 1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(biased_lock, no_order_is_idle) {
    auto const mutants = model::weaken_each("biased_weakened", random(40000), biased_body(true, 2));
    EXPECT_GE(mutants.size(), 6U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The lock of PARMACS and of TNT over machines: one at a time holds it, it moves between machines,
// none of them keeps it while another wants it, and nobody sleeps for ever.
#include "base/spin_lock.hpp"
#include "sync/machine_lock.hpp"
#include "sync/signal_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using sync::left;
using sync::stay;
using machine = model::parking::machine;

struct sleeper {
    model::plain<sleeper*> after{nullptr};
    int place = 0;
    sync::signal_core<model::parking> signal;
};

struct local_lock : base::basic_spin_lock<machine> {
    [[nodiscard]] bool lock_until(int tries) {
        for (; tries != 0; --tries) {
            if (try_lock()) return true;
            machine::pause();
        }
        return false;
    }
};
using share = sync::lock_share<machine, local_lock>;
using home_part = sync::lock_home<machine, sleeper>;

struct seen {
    long sleeps = 0;
    long recalls = 0;     // that found the lock free
    long locked_here = 0; // without asking
    long too_late = 0;
    long most_turns = 0; // of a machine while another one slept, in any run
};

struct settings {
    std::vector<int> machines; // of each thread
    int times;
    int threshold;
    int turns;
    bool has_limit = false; // the first thread has, and may come too late
};

struct counter {
    explicit counter(settings const& chosen) : how(chosen) {}

    settings how;
    model::parking_world world;
    std::array<share, 2> shares;
    home_part home;
    model::plain<int> value{0};
    seen all;
    // Times that the other machine has had the lock since this one has recalled it; -1: it has not.
    std::array<int, 2> waited{-1, -1};

    // As the messages between machines do.
    void release_at_home() {
        sleeper* const next = home.release();
        if (next != nullptr)
            model::check(next->signal.notify() == sync::signal_error::none, "each is told once");
    }
    void recall(int from) {
        if (from == home_part::k_nowhere) return;
        if (!shares[static_cast<std::size_t>(from)].recall()) return;
        ++all.recalls;
        release_at_home();
    }
    void take(int at) {
        share& own = shares[static_cast<std::size_t>(at)];
        bool was_taken = false;
        if (own.enter(was_taken)) return note_locked_here(at);
        static_cast<void>(fetch(at, was_taken, false));
    }
    [[nodiscard]] bool take_in_time(int at) {
        share& own = shares[static_cast<std::size_t>(at)];
        bool was_taken = false;
        auto const done = own.enter_until(2, was_taken);
        if (done == sync::entered::too_late_and_goes_home) release_at_home();
        if (done != sync::entered::has_share) return false;
        if (!own.is_held_here()) return fetch(at, was_taken, true);
        note_locked_here(at);
        return true;
    }
    void note_locked_here(int at) {
        ++all.locked_here;
        note_turn(at);
    }
    // With a limit it does not wait.
    bool fetch(int at, bool was_taken, bool has_limit) {
        share& own = shares[static_cast<std::size_t>(at)];
        sleeper entry;
        entry.place = at;
        entry.signal.open(1);
        auto const a = home.take(entry, was_taken, how.threshold);
        if (!a.is_granted) {
            ++all.sleeps;
            if (a.recall_at != at) recall(a.recall_at);
            if (has_limit && home.withdraw(entry)) {
                own.leave_share();
                return false;
            }
            waited[static_cast<std::size_t>(at)] = 0;
            model::check(entry.signal.wait() == sync::signal_error::none, "the only waiter");
            waited[static_cast<std::size_t>(at)] = -1;
        }
        own.arrive(a.how, !a.is_granted);
        return true;
    }
    // Each process may see once too late that the lock is wanted.
    void note_turn(int at) {
        int& others = waited[static_cast<std::size_t>(1 - at)];
        if (others < 0) return;
        ++others;
        all.most_turns = std::max<long>(all.most_turns, others);
        model::check(others <= how.turns + static_cast<int>(how.machines.size()),
                     "another machine gets it after so many turns");
    }
    void give(int at) {
        left const way = shares[static_cast<std::size_t>(at)].unlock(how.turns);
        model::check(way != left::not_held, "it is held");
        if (way == left::goes_home) release_at_home();
    }
    void count_up(int at) {
        for (int k = 0; k < how.times; ++k) {
            take(at);
            value.store(value.load() + 1);
            give(at);
        }
    }
    void count_up_in_time(int at) {
        for (int k = 0; k < how.times; ++k) {
            if (!take_in_time(at)) {
                ++all.too_late;
                continue;
            }
            value.store(value.load() + 1);
            give(at);
        }
    }
};

model::test_body body(settings const& how, seen* all = nullptr) {
    return [=](model::test& t) {
        auto& c = t.make<counter>(how);
        for (std::size_t k = 0; k < how.machines.size(); ++k)
            t.thread([&c, at = how.machines[k], has_limit = k == 0 && how.has_limit] {
                has_limit ? c.count_up_in_time(at) : c.count_up(at);
            });
        t.at_end([=, &c] {
            model::check(c.value.load() + c.all.too_late ==
                             static_cast<int>(how.machines.size()) * how.times,
                         "nobody was there at the same time");
            for (share& each : c.shares)
                model::check(each.unlock(how.turns) == left::not_held, "nobody holds it");
            if (all == nullptr) return;
            all->sleeps += c.all.sleeps;
            all->recalls += c.all.recalls;
            all->locked_here += c.all.locked_here;
            all->too_late += c.all.too_late;
            all->most_turns = std::max(all->most_turns, c.all.most_turns);
        });
    };
}

constexpr int k_always = 0;
constexpr int k_never = 1000;

// What orders at random show.
seen explored(std::string const& name, settings const& how) {
    seen all;
    model::result const r =
        model::explore(name, model::without_heavy_fence(model::random(20000)), body(how, &all));
    EXPECT_TRUE(r.passed()) << r;
    return all;
}

TEST(parmacs_machine_lock, of_two_machines_exhaustively) {
    seen all;
    model::result const r = model::explore("parmacs_machine_lock_2",
                                           model::without_heavy_fence(model::exhaustive(3, 200000)),
                                           body({{0, 1}, 2, k_always, 1}, &all));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(all.sleeps, 100);
    EXPECT_GT(all.recalls, 100);
    EXPECT_GT(all.locked_here, 100);
}

TEST(parmacs_machine_lock, of_several_on_a_machine) {
    for (int const turns : {1, 2, 100}) {
        seen const all = explored("parmacs_machine_lock_3", {{0, 0, 1}, 2, k_always, turns});
        EXPECT_GT(all.sleeps, 100);
        EXPECT_GT(all.recalls, 100);
        EXPECT_GT(all.locked_here, 100);
    }
}

TEST(parmacs_machine_lock, goes_home_each_time_as_long_as_it_is_plain) {
    seen const all = explored("parmacs_machine_lock_plain", {{0, 0, 1}, 2, k_never, 100});
    EXPECT_EQ(all.locked_here, 0);
    EXPECT_EQ(all.recalls, 0);
}

TEST(parmacs_machine_lock, stays_once_it_is_contended) {
    seen const all = explored("parmacs_machine_lock_stays", {{0, 0, 1}, 3, 1, 100});
    EXPECT_GT(all.locked_here, 100);
}

TEST(parmacs_machine_lock, leaves_a_machine_after_so_many_turns) {
    seen const all = explored("parmacs_machine_lock_turns", {{0, 0, 1}, 6, k_always, 2});
    EXPECT_GE(all.most_turns, 2);
    // Nothing but the bound sees to that.
    EXPECT_GT(explored("parmacs_machine_lock_unbounded", {{0, 0, 1}, 6, k_always, 1000}).most_turns,
              5);
}

// One for whom the lock was left at the machine, and who comes too late for it, sends it home; one
// who waits there for it no longer is not told.
TEST(parmacs_machine_lock, whoever_comes_too_late_keeps_nobody_waiting) {
    seen const all = explored("parmacs_machine_lock_late", {{0, 0, 1}, 2, k_always, 100, true});
    EXPECT_GT(all.too_late, 100);
    EXPECT_GT(all.sleeps, 100);
}

TEST(parmacs_machine_lock, every_order_is_needed) {
    auto const mutants = model::weaken_each("parmacs_machine_lock_weakened",
                                            model::without_heavy_fence(model::random(20000)),
                                            body({{0, 0, 1}, 2, k_always, 100}));
    auto of_lock = mutants;
    std::erase_if(of_lock,
                  [](model::mutant const& m) { return m.change.where.file != "machine_lock.hpp"; });
    EXPECT_GE(of_lock.size(), 2U);
    EXPECT_EQ(model::survivors(of_lock), "");
}

} // namespace

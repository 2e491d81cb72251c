// SPDX-License-Identifier: Apache-2.0
//
// The lock of PARMACS and of TNT over machines: one at a time holds it, it moves between machines,
// none of them keeps it while another wants it, and nobody sleeps for ever. Messages for which
// nobody waits are handed over by threads of the test, so that they overtake each other, and what
// is asked and answered.
#include "base/spin_lock.hpp"
#include "sync/machine_lock.hpp"
#include "sync/signal_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using sync::left;
using sync::stay;
using machine = model::parking::machine;

struct sleeper {
    model::plain<sleeper*> after{nullptr};
    int machine = 0;
    model::plain<bool> stays{false};
    model::plain<bool> is_wanted{false};
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
    long stayed = 0;     // came to stay
    long in_vain = 0;    // for nothing
    long early = 0;      // recalls that came before what they recall
    // Between two machines of which neither is the home's.
    long far_recalls = 0;
    long far_grants = 0;
};

constexpr std::size_t k_machines = 3; // at most; the home is at the first one

// Errors, to see that they are found.
enum class flaw {
    none,
    early_recall_is_lost, // that comes to a machine which has not the lock yet
    release_comes_twice,
    recall_goes_to_the_second_machine,
};

struct settings {
    std::vector<int> machines; // of each thread
    int times;
    int threshold;
    int turns;
    bool has_limit = false; // the first thread has, and may come too late
    flaw planted = flaw::none;
    int carriers = 2; // of messages
};

// Messages between machines for which nobody waits. Each of those that hand them over takes the
// next one, and may be slower than another one then.
class network {
public:
    struct message {
        bool is_recall = false;
        int machine = 0; // that is recalled from
        left how = left::goes_home;
        model::atomic<int> state{0}; // 1: sent, 2: taken
    };
    void send(bool is_recall, int at, left how) {
        message& sent = m_all.at(m_sent++);
        sent.is_recall = is_recall;
        sent.machine = at;
        sent.how = how;
        sent.state.store(1, std::memory_order_release); // pairs with take
    }
    void end() { ++m_ended; }
    // Until so many threads have ended.
    template <class F> void hand_over(int threads, F f) {
        for (std::size_t next = 0; m_ended != threads || next != m_sent;) {
            int state = 0;
            if (next != m_sent) state = take(m_all.at(next));
            if (state == 0) {
                machine::pause();
                continue;
            }
            ++next;
            if (state == 1) f(m_all.at(next - 1));
        }
    }

private:
    // What the state was.
    static int take(message& found) {
        int state = 1;
        // Pairs with send.
        static_cast<void>(found.state.compare_exchange_strong(state, 2, std::memory_order_acquire,
                                                              std::memory_order_relaxed));
        return state;
    }

    std::array<message, 44> m_all; // explorations have a limit of atomic variables
    // Of the test itself, as one thread of it runs at a time.
    std::size_t m_sent = 0;
    int m_ended = 0;
};

struct counter {
    explicit counter(settings const& chosen) : how(chosen) {}

    settings how;
    model::parking_world world;
    std::array<share, k_machines> shares;
    home_part home;
    network messages;
    model::plain<int> value{0};
    seen all;
    // Of a machine that sleeps: how often each one has taken the lock without the home since.
    struct others {
        bool is_asleep = false;
        std::array<int, k_machines> turns{};
    };
    std::array<others, k_machines> seen_by;
    int recalls_under_way = 0;

    void release_at_home(int from, left way) {
        if (way == left::goes_home_in_vain) ++all.in_vain;
        sleeper* const next = home.release(way);
        if (next == nullptr) return;
        if (from != 0 && next->machine != 0 && next->machine != from) ++all.far_grants;
        grant(*next);
    }
    static void grant(sleeper& next) {
        model::check(next.signal.notify() == sync::signal_error::none, "each is told once");
    }
    void send_home(int from, left way) {
        if (from == 0) return release_at_home(from, way);
        messages.send(false, from, way);
        if (how.planted == flaw::release_comes_twice) messages.send(false, from, way);
    }
    void hand_over(network::message const& sent) {
        if (!sent.is_recall) return release_at_home(sent.machine, sent.how);
        --recalls_under_way;
        share& own = shares[static_cast<std::size_t>(sent.machine)];
        if (!own.is_held_here()) {
            ++all.early;
            if (how.planted == flaw::early_recall_is_lost) return;
        }
        left const done = own.recall();
        if (!goes_home(done)) return;
        ++all.recalls;
        send_home(sent.machine, done);
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
        if (goes_home(done.otherwise)) send_home(at, done.otherwise);
        if (!done.has_share) return false;
        if (!own.is_found_here()) return fetch(at, was_taken, true);
        note_locked_here(at);
        return true;
    }
    void note_locked_here(int at) {
        ++all.locked_here;
        note_turn(at);
    }
    // What the home does for one that has to wait. True: that one has the lock already.
    [[nodiscard]] bool recall(int from, sleeper const& entry) {
        if (from == home_part::k_nowhere || from == entry.machine) return false;
        if (from != 0) {
            ++recalls_under_way;
            if (entry.machine != 0) ++all.far_recalls;
            bool const is_lost = how.planted == flaw::recall_goes_to_the_second_machine;
            messages.send(true, is_lost ? 1 : from, left::stays);
            return false;
        }
        left const done = shares[0].recall();
        if (!goes_home(done)) return false;
        ++all.recalls;
        if (done == left::goes_home_in_vain) ++all.in_vain;
        sleeper* const next = home.release(done);
        if (next == &entry) return true;
        if (next != nullptr) grant(*next);
        return false;
    }
    // With a limit it does not wait.
    bool fetch(int at, bool was_taken, bool has_limit) {
        share& own = shares[static_cast<std::size_t>(at)];
        sleeper entry;
        entry.machine = at;
        entry.signal.open(1);
        auto const a = home.take(entry, was_taken, how.threshold);
        if (!a.is_granted && !recall(a.recall_at, entry)) {
            ++all.sleeps;
            if (has_limit && home.withdraw(entry)) {
                own.leave_share();
                return false;
            }
            others& now = seen_by[static_cast<std::size_t>(at)];
            now = {true, {}};
            model::check(entry.signal.wait() == sync::signal_error::none, "the only waiter");
            now.is_asleep = false;
        }
        if (a.how == stay::until_wanted) ++all.stayed;
        own.arrive(a.how, !a.is_granted && entry.is_wanted.load());
        return true;
    }
    // Each process may see once too late that the lock is wanted. While one machine sleeps another
    // one gets the lock once at most.
    void note_turn(int at) {
        if (recalls_under_way != 0) return;
        for (std::size_t k = 0; k < k_machines; ++k) {
            if (static_cast<int>(k) == at || !seen_by[k].is_asleep) continue;
            int const turns = ++seen_by[k].turns[static_cast<std::size_t>(at)];
            all.most_turns = std::max<long>(all.most_turns, turns);
            model::check(turns <= how.turns + static_cast<int>(how.machines.size()),
                         "another machine gets it after so many turns");
        }
    }
    void give(int at) {
        share& own = shares[static_cast<std::size_t>(at)];
        left const way = own.unlock(how.turns);
        model::check(way != left::not_held, "it is held");
        if (goes_home(way)) send_home(at, way);
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
                c.messages.end();
            });
        for (int k = 0; k < how.carriers; ++k)
            t.thread([&c, threads = static_cast<int>(how.machines.size())] {
                c.messages.hand_over(threads, [&c](auto const& sent) { c.hand_over(sent); });
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
            all->stayed += c.all.stayed;
            all->in_vain += c.all.in_vain;
            all->early += c.all.early;
            all->far_recalls += c.all.far_recalls;
            all->far_grants += c.all.far_grants;
        });
    };
}

constexpr int k_always = 0;
constexpr int k_seldom = 1000;

// What orders at random show.
seen explored(std::string const& name, settings const& how) {
    seen all;
    model::result const r =
        model::explore(name, model::without_heavy_fence(model::random(20000)), body(how, &all));
    EXPECT_TRUE(r.passed()) << r;
    return all;
}

TEST(parmacs_machine_lock, of_two_machines_exhaustively) {
    struct extent {
        int times;
        unsigned preemptions;
    };
    seen all;
    for (extent const& e : {extent{1, 1}, extent{2, 0}}) {
        model::result const r =
            model::explore("parmacs_machine_lock_2_all",
                           model::without_heavy_fence(model::exhaustive(e.preemptions, 100000)),
                           body({.machines = {0, 1},
                                 .times = e.times,
                                 .threshold = k_always,
                                 .turns = 1,
                                 .carriers = 1},
                                &all));
        EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
    }
    EXPECT_GT(all.sleeps, 100);
    EXPECT_GT(all.recalls, 100);
    EXPECT_GT(all.locked_here, 100);
}

// The first of very many orders.
TEST(parmacs_machine_lock, of_two_machines) {
    seen all;
    model::result const r = model::explore(
        "parmacs_machine_lock_2", model::without_heavy_fence(model::exhaustive(2, 300000)),
        body({.machines = {0, 1}, .times = 2, .threshold = k_always, .turns = 1, .carriers = 1},
             &all));
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

TEST(parmacs_machine_lock, of_three_machines) {
    for (auto const& machines :
         {std::vector{0, 1, 2}, std::vector{1, 1, 2}, std::vector{0, 1, 2, 2}})
        for (int const turns : {1, 100}) {
            seen const all = explored("parmacs_machine_lock_of_3", {machines, 2, k_always, turns});
            EXPECT_GT(all.sleeps, 100);
            EXPECT_GT(all.recalls, 100);
            EXPECT_GT(all.locked_here, 100);
            EXPECT_GT(all.far_recalls, 100);
            EXPECT_GT(all.far_grants, 100);
        }
}

// It begins to stay, or ceases, while others sleep.
TEST(parmacs_machine_lock, of_three_machines_stays_now_and_then) {
    for (int const threshold : {2, k_seldom}) {
        seen const all =
            explored("parmacs_machine_lock_of_3_stays", {{0, 1, 2}, 6, threshold, 100});
        EXPECT_GT(all.stayed, 100);
        EXPECT_GT(all.far_recalls, 10); // seldom, as who waits has said that it is wanted
        EXPECT_GT(all.far_grants, 100);
    }
}

TEST(parmacs_machine_lock, goes_home_each_time_as_long_as_it_is_plain) {
    int const never = sync::k_never_stays;
    seen const all = explored("parmacs_machine_lock_plain", {{0, 0, 1}, 2, never, 100});
    EXPECT_EQ(all.locked_here, 0);
    EXPECT_EQ(all.recalls, 0);
}

TEST(parmacs_machine_lock, stays_once_it_is_contended) {
    seen const all = explored("parmacs_machine_lock_stays", {{0, 0, 1}, 3, 1, 100});
    EXPECT_GT(all.locked_here, 100);
}

// Where a machine takes it again before another one does.
TEST(parmacs_machine_lock, stays_where_it_is_used_again) {
    seen const one = explored("parmacs_machine_lock_used", {{1}, 5, k_seldom, 100});
    EXPECT_EQ(one.stayed, one.locked_here); // the fourth time, for the fifth
    EXPECT_GT(one.stayed, 100);
    seen const all = explored("parmacs_machine_lock_again", {{0, 1}, 9, k_seldom, 100});
    EXPECT_GT(all.stayed, 100);
    EXPECT_GT(all.recalls, 100);
    EXPECT_GT(all.in_vain, 100);
}

// A recall overtakes what it recalls.
TEST(parmacs_machine_lock, messages_overtake_each_other) {
    seen const all = explored("parmacs_machine_lock_early", {{0, 1}, 3, k_always, 100});
    EXPECT_GT(all.early, 100);
}

TEST(parmacs_machine_lock, with_flaws_fails) {
    auto const expect_found = [](std::vector<int> const& machines, flaw planted) {
        model::options o = model::without_heavy_fence(model::random(60000));
        o.expect_failure = true;
        model::result const r = model::explore(
            "parmacs_machine_lock_flawed" + std::to_string(static_cast<int>(planted)), o,
            body({machines, 3, k_always, 100, false, planted}));
        EXPECT_FALSE(r.passed()) << static_cast<int>(planted);
    };
    expect_found({0, 1, 1}, flaw::early_recall_is_lost);
    expect_found({0, 1, 1}, flaw::release_comes_twice);
    expect_found({0, 1, 2}, flaw::recall_goes_to_the_second_machine);
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

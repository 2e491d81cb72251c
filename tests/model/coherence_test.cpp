// SPDX-License-Identifier: Apache-2.0
//
// Coherent memory: hosts with one thread each. What a program without data races reads is what it
// would read on one host.
#include "coherence_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using namespace tulle::model::coherence;
using machine = model::machine;

constexpr std::size_t k_usual = 8; // of a log
constexpr std::size_t k_short = 2;
constexpr std::size_t k_of_two_machines = 4;

// Each counts in one byte under a lock, and writes into the other byte of that unit and into
// another unit what nobody else does.
template <std::size_t Length> model::test_body count(int threads, int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < threads; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                for (int n = 0; n < times; ++n) {
                    if (k < 2) h.add(static_cast<line_number>(k), 1);
                    h.lock(all.flags[0]);
                    h.add(0, 0);
                    h.unlock(all.flags[0]);
                }
            });
        t.at_end([=, &all] {
            auto& h = all.at(k_hosts - 1);
            h.acquire();
            model::check(h.load(0, 0) == threads * times, "each turn has been counted");
            for (int k = 0; k < 2 && k < threads; ++k) {
                all.at(static_cast<host_number>(k)).release();
                h.acquire();
                model::check(h.load(static_cast<line_number>(k), 1) == times,
                             "what one host wrote is there");
            }
        });
    };
}

// Nothing but the counter: its unit stays writable over releases, where it is not at home.
template <std::size_t Length>
model::test_body count_only(int threads, int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < threads; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                for (int n = 0; n < times; ++n) {
                    h.lock(all.flags[0]);
                    h.add(0, 0);
                    h.unlock(all.flags[0]);
                }
                h.release(); // without changes
                if (k >= 2) return;
                h.add(1, static_cast<std::size_t>(k));
                h.release();
            });
        t.at_end([=, &all] {
            auto& h = all.at(k_hosts - 1);
            h.acquire();
            model::check(h.load(0, 0) == threads * times, "each turn has been counted");
            for (std::size_t k = 0; k < 2; ++k)
                model::check(h.load(1, k) == 1, "the rest is there");
        });
    };
}

// A value goes through two locks that have one host in common.
template <std::size_t Length> model::test_body pass_on(variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            h.store(0, 0, 1);
            h.store(1, 0, 2);
            h.raise(all.flags[0]);
            h.await(all.flags[2], 1);
            model::check(h.load(1, 0) == 4 && h.load(0, 1) == 3, "it has come back");
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "the first has come");
            h.store(0, 1, 3);
            h.raise(all.flags[1]);
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 1 && h.load(1, 0) == 2 && h.load(0, 1) == 3,
                         "all of it has come");
            h.store(1, 0, 4);
            h.raise(all.flags[2]);
        });
    };
}

// Rounds between barriers: all write their own byte of one unit, then all read all.
template <std::size_t Length> model::test_body rounds(int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < 2; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                std::uint32_t passed = 0;
                for (int n = 1; n <= times; ++n) {
                    auto const value = static_cast<std::uint8_t>(n);
                    h.store(0, static_cast<std::size_t>(k), value);
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                    model::check(h.load(0, 0) == value && h.load(0, 1) == value, "both are there");
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                }
            });
    };
}

// The same, where one check is for stores to all units.
template <std::size_t Length> model::test_body sweeps(int times, variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (int k = 0; k < 2; ++k)
            t.thread([&all, k, times] {
                auto& h = all.at(static_cast<host_number>(k));
                std::uint32_t passed = 0;
                for (int n = 1; n <= times; ++n) {
                    auto const value = static_cast<std::uint8_t>(n);
                    h.may_store_all();
                    for (line_number unit = 0; unit < k_units; ++unit)
                        h.put(unit, static_cast<std::size_t>(k), value);
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                    for (line_number unit = 0; unit < k_units; ++unit)
                        model::check(h.load(unit, 0) == value && h.load(unit, 1) == value,
                                     "both are there");
                    h.raise(all.flags[0]);
                    h.await(all.flags[0], passed += 2);
                }
            });
    };
}

// A reader fetches while the home writes what it does not look at, and goes on without a notice.
model::test_body look_beside(variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_usual>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            h.store(0, 0, 1);
            h.raise(all.flags[0]);
            h.store(0, 1, 2);
            h.raise(all.flags[1]);
            h.store(0, 1, 3);
            h.raise(all.flags[2]);
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "what came first");
            h.await(all.flags[1], 1);
            h.await(all.flags[2], 1);
            model::check(h.load(0, 1) == 3, "what came last");
        });
    };
}

// Of a unit at home on its machine a host loads one byte, and synchronises for other reasons, while
// a host of another machine tells that it has written the other byte.
model::test_body hear_beside(variant chosen = {}) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_of_two_machines>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            h.store(0, 0, 1);
            h.store(0, 1, 2);
            h.raise(all.flags[0]);
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            for (int k = 0; k < 2; ++k) {
                model::check(h.load(0, 1) == 2, "nobody has written it since");
                h.acquire();
            }
            model::check(h.load(0, 1) == 2, "nor now");
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 3, "it has come");
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.await(all.flags[0], 1);
            h.store(0, 0, 3);
            h.raise(all.flags[1]);
        });
    };
}

// A reader that lost nothing has seen each range once, in order.
model::test_body read_a_log(line_number ranges) {
    return [=](model::test& t) {
        auto& log = t.make<dsm::range_log<machine, k_short>>();
        t.thread([&log, ranges] {
            for (line_number k = 1; k <= ranges; ++k) {
                log.append({k, k});
                log.publish();
            }
        });
        t.thread([&log] {
            std::uint64_t seen = 0;
            for (int times = 0; times < 2; ++times) {
                std::vector<line_range> found;
                std::uint64_t const from = seen;
                if (!log.read(seen, [&](line_range r) { found.push_back(r); })) continue;
                model::check(found.size() == seen - from, "as many as were published");
                for (std::size_t k = 0; k < found.size(); ++k)
                    model::check(found[k].first == from + k + 1 && found[k].count == found[k].first,
                                 "each is the next one");
            }
        });
    };
}

// Of two units at home on its machine a host loads one byte each, while a host of another machine
// tells that it has written the other bytes: by two notices, as it has written the second unit
// first.
model::test_body hear_of_both(variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_of_two_machines>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0);
            for (line_number unit = 0; unit < k_units; ++unit) {
                h.store(unit, 0, 1);
                h.store(unit, 1, 2);
            }
            h.raise(all.flags[0]);
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.await(all.flags[0], 1);
            for (int k = 0; k < 2; ++k) {
                model::check(h.load(1, 1) == 2 && h.load(0, 1) == 2, "nobody has written it since");
                h.acquire();
            }
            h.await(all.flags[1], 1);
            model::check(h.load(1, 0) == 3 && h.load(0, 0) == 3, "both have come");
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.await(all.flags[0], 1);
            h.store(1, 0, 3);
            h.store(0, 0, 3);
            h.raise(all.flags[1]);
        });
    };
}

// Litmus tests: a part of a program for each host, of two steps, each under the lock of its
// variable. The forbidden outcome is one that no order of all steps gives.
enum class kind : std::uint8_t { nothing, store, load };
struct step {
    kind what = kind::nothing;
    std::size_t variable = 0;
};
constexpr std::size_t k_steps = 2;
using part = std::array<step, k_steps>;
using outcome = std::vector<std::array<int, k_steps>>; // of loads, else -1
struct litmus {
    char const* name;
    std::vector<part> parts;
    outcome forbidden;
};

constexpr step store_x{kind::store, 0}, store_y{kind::store, 1};
constexpr step load_x{kind::load, 0}, load_y{kind::load, 1};

std::vector<litmus> litmus_tests() {
    return {{"store_buffering", {{store_x, load_y}, {store_y, load_x}}, {{-1, 0}, {-1, 0}}},
            {"message_passing", {{store_x, store_y}, {load_y, load_x}}, {{-1, -1}, {1, 0}}},
            {"load_buffering", {{load_x, store_y}, {load_y, store_x}}, {{1, -1}, {1, -1}}},
            {"independent_reads",
             {{store_x, {}}, {store_y, {}}, {load_x, load_y}, {load_y, load_x}},
             {{-1, -1}, {-1, -1}, {1, 0}, {1, 0}}}};
}

// Errors of programs, or of locks, to see that an outcome is found where it can come.
enum class omission : std::uint8_t {
    none,
    locks_acquire_nothing,
    second_step_comes_first, // as a compiler or a processor might have it
};

// Of a litmus test: the variables are bytes of one unit, or of two.
template <std::size_t Length> class litmus_run {
public:
    litmus_run(litmus const& of, bool are_apart, variant const& chosen, omission planted)
        : m_of(of),
          m_are_apart(are_apart),
          m_planted(planted),
          m_all(chosen),
          m_found(of.parts.size(), std::array{-1, -1}) {}

    [[nodiscard]] std::size_t parts() const { return m_of.parts.size(); }
    // Nobody but the homes has a copy, and then each has one of what it loads last.
    void get_copies() {
        for (std::size_t variable = 0; variable < 2; ++variable) {
            auto& h = m_all.at(static_cast<host_number>(variable));
            h.store(unit_of(variable), byte_of(variable), 0);
            h.release();
        }
        for (std::size_t k = 0; k < parts(); ++k) {
            auto& h = m_all.at(static_cast<host_number>(k));
            h.acquire();
            step const& last = m_of.parts[k][k_steps - 1];
            if (last.what == kind::load)
                static_cast<void>(h.load(unit_of(last.variable), byte_of(last.variable)));
        }
    }
    void do_part(std::size_t k) {
        bool const is_swapped = m_planted == omission::second_step_comes_first;
        for (std::size_t n : {std::size_t{is_swapped}, std::size_t{!is_swapped}})
            m_found[k][n] = act(m_all.at(static_cast<host_number>(k)), m_of.parts[k][n]);
    }
    [[nodiscard]] bool is_forbidden() const { return m_found == m_of.forbidden; }

private:
    [[nodiscard]] line_number unit_of(std::size_t variable) const {
        return m_are_apart ? variable : 0;
    }
    [[nodiscard]] std::size_t byte_of(std::size_t variable) const {
        return m_are_apart ? 0 : variable;
    }
    int act(user<Length>& h, step const& s) {
        if (s.what == kind::nothing) return -1;
        auto& lock = m_all.flags.at(s.variable);
        m_planted == omission::locks_acquire_nothing ? h.lock_only(lock) : h.lock(lock);
        int value = -1;
        if (s.what == kind::store)
            h.store(unit_of(s.variable), byte_of(s.variable), 1);
        else
            value = h.load(unit_of(s.variable), byte_of(s.variable));
        h.unlock(lock);
        return value;
    }

    litmus m_of;
    bool m_are_apart;
    omission m_planted;
    hosts<Length> m_all;
    outcome m_found;
};

template <std::size_t Length>
model::test_body run(litmus const& of, bool are_apart, variant const& chosen, omission planted) {
    return [=](model::test& t) {
        auto& one = t.make<litmus_run<Length>>(of, are_apart, chosen, planted);
        one.get_copies();
        for (std::size_t k = 0; k < one.parts(); ++k) t.thread([&one, k] { one.do_part(k); });
        t.at_end(
            [&one] { model::check(!one.is_forbidden(), "some order of all steps gives this"); });
    };
}

model::options quick(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

variant of_two_machines(telling how, flaw wrong = flaw::none,
                        dsm::outdated_copies outdated = dsm::outdated_copies::are_dropped) {
    return {true, wrong, outdated, false, how};
}

TEST(coherence, of_two_exhaustively) {
    model::result const r =
        model::explore("coherence_rounds", model::without_heavy_fence(model::exhaustive(1, 60000)),
                       rounds<k_usual>(1));
    EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
}
// All of these would take half a minute.
TEST(coherence, of_two_with_more_preemptions) {
    model::result const r =
        model::explore("coherence_rounds_2",
                       model::without_heavy_fence(model::exhaustive(2, 40000)), rounds<k_usual>(1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, logs_tell_what_was_lost) {
    model::result const r = model::explore(
        "coherence_log", model::without_heavy_fence(model::exhaustive(3, 60000)), read_a_log(4));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, counts_under_a_lock) {
    model::result const r = model::explore("coherence_count", quick(20000), count<k_usual>(3, 2));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, counts_in_a_unit_that_stays_writable) {
    model::result r =
        model::explore("coherence_count_only", quick(4000), count_only<k_usual>(2, 4));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("coherence_count_only_short", quick(4000), count_only<k_short>(2, 4));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore(
        "coherence_count_only_refreshed", quick(4000),
        count_only<k_usual>(2, 4, {false, flaw::none, dsm::outdated_copies::are_refreshed}));
    EXPECT_TRUE(r.passed()) << r;
    for (telling const how : k_each_way) {
        r = model::explore("coherence_far_count_only", quick(2500),
                           count_only<k_of_two_machines>(3, 3, of_two_machines(how)));
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(coherence, passes_on_what_others_wrote) {
    model::result const r = model::explore("coherence_pass_on", quick(20000), pass_on<k_usual>());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, goes_in_rounds) {
    model::result const r = model::explore("coherence_rounds_3", quick(20000), rounds<k_usual>(3));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, goes_in_rounds_of_stores_to_all_units) {
    model::result r = model::explore("coherence_sweeps", quick(20000), sweeps<k_usual>(3));
    EXPECT_TRUE(r.passed()) << r;
    for (telling const how : k_each_way) {
        r = model::explore("coherence_far_sweeps", quick(6000),
                           sweeps<k_of_two_machines>(3, of_two_machines(how)));
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(coherence, notices_what_was_fetched_while_it_was_written) {
    model::result const r = model::explore("coherence_look_beside", quick(20000), look_beside());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, bears_the_loss_of_log_entries) {
    model::result r = model::explore("coherence_count_short", quick(10000), count<k_short>(3, 3));
    EXPECT_TRUE(r.passed()) << r;
    r = model::explore("coherence_rounds_short", quick(10000), rounds<k_short>(3));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherence, of_two_machines) {
    for (telling const how : k_each_way) {
        SCOPED_TRACE(static_cast<int>(how));
        variant const far = of_two_machines(how);
        model::result r = model::explore("coherence_far_count", quick(10000),
                                         count<k_of_two_machines>(3, 2, far));
        EXPECT_TRUE(r.passed()) << r;
        r = model::explore("coherence_far_pass_on", quick(10000), pass_on<k_of_two_machines>(far));
        EXPECT_TRUE(r.passed()) << r;
        r = model::explore("coherence_far_beside", quick(10000), hear_beside(far));
        EXPECT_TRUE(r.passed()) << r;
        r = model::explore("coherence_far_both", quick(10000), hear_of_both(far));
        EXPECT_TRUE(r.passed()) << r;
        r = model::explore("coherence_far_short", quick(6000), count<k_short>(3, 2, far));
        EXPECT_TRUE(r.passed()) << r;
    }
}

variant of_hosts(std::size_t hosts, variant chosen) {
    chosen.hosts = std::max(k_hosts, static_cast<host_number>(hosts));
    return chosen;
}

// With more hosts than usual there is room for short logs of one machine only.
model::test_body run_on(variant const& chosen, litmus const& of, bool are_apart,
                        omission planted = omission::none) {
    variant const all = of_hosts(of.parts.size(), chosen);
    return all.hosts > k_hosts ? run<k_short>(of, are_apart, all, planted)
                               : run<k_of_two_machines>(of, are_apart, all, planted);
}

std::string named(litmus const& of, bool are_apart, char const* how) {
    return std::string("coherence_") + of.name + (are_apart ? "_apart_" : "_together_") + how;
}

TEST(coherence, orders_all_that_is_done_under_locks) {
    auto const refreshed = dsm::outdated_copies::are_refreshed;
    for (litmus const& of : litmus_tests())
        for (bool const are_apart : {false, true}) {
            auto const expect_right = [&](char const* how, variant const& chosen) {
                model::result const r = model::explore(named(of, are_apart, how), quick(1200),
                                                       run_on(chosen, of, are_apart));
                EXPECT_TRUE(r.passed()) << r;
            };
            expect_right("near", {});
            expect_right("refreshed", {false, flaw::none, refreshed});
            if (of.parts.size() > k_hosts) continue;
            for (telling const how : k_each_way) expect_right("far", of_two_machines(how));
            expect_right("far_refreshed",
                         of_two_machines(telling::in_parts, flaw::none, refreshed));
        }
}

TEST(coherence, needs_no_checks_of_loads_where_copies_are_refreshed) {
    auto const how = dsm::outdated_copies::are_refreshed;
    for (variant const& refreshed :
         {variant{false, flaw::none, how}, of_two_machines(telling::at_once, flaw::none, how),
          of_two_machines(telling::in_parts, flaw::none, how),
          of_two_machines(telling::mixed, flaw::none, how)}) {
        std::string const of = refreshed.has_two_machines ? "coherence_far_" : "coherence_";
        auto const expect_right = [&of](std::string const& name, model::test_body const& body) {
            model::result const r = model::explore((of + name).c_str(), quick(6000), body);
            EXPECT_TRUE(r.passed()) << r;
        };
        expect_right("refreshed_count", count<k_of_two_machines>(3, 2, refreshed));
        expect_right("refreshed_pass_on", pass_on<k_of_two_machines>(refreshed));
        expect_right("refreshed_rounds", rounds<k_of_two_machines>(3, refreshed));
        expect_right("refreshed_short", count<k_short>(3, 2, refreshed));
        if (!refreshed.has_two_machines) expect_right("refreshed_beside", look_beside(refreshed));
    }
}

void expect_found(char const* name, model::test_body const& body) {
    model::options o = quick(60000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_NE(r.message.find("check failed"), std::string::npos) << name << ": " << r;
}

TEST(coherence, of_flawed_protocols_is_found_to_be_none) {
    expect_found("coherence_no_reader",
                 count<k_of_two_machines>(2, 3, {false, flaw::who_takes_over_is_no_reader}));
    expect_found("coherence_no_merge", count<k_usual>(2, 2, {false, flaw::nothing_is_taken_over}));
    for (telling const how : k_each_way) {
        SCOPED_TRACE(static_cast<int>(how));
        auto const far = [=](flaw wrong) { return of_two_machines(how, wrong); };
        expect_found("coherence_far_not_noted",
                     count<k_of_two_machines>(3, 2, far(flaw::homes_do_not_note_fetches)));
        expect_found("coherence_far_notices_first",
                     hear_beside(far(flaw::notices_come_before_bytes)));
        expect_found("coherence_far_not_told",
                     pass_on<k_of_two_machines>(far(flaw::releases_without_differences_stay_here)));
    }
    expect_found(
        "coherence_far_full_notices_first",
        hear_of_both(of_two_machines(telling::mixed, flaw::full_notices_come_before_bytes)));
    expect_found("coherence_one_twin",
                 sweeps<k_usual>(3, {false, flaw::only_the_first_has_a_twin}));
    expect_found("coherence_old_twins",
                 count_only<k_usual>(2, 4, {false, flaw::twins_stay_as_they_were}));
    expect_found("coherence_unchecked_loads",
                 pass_on<k_usual>({false, flaw::loads_are_not_checked}));
}

// Each of the outcomes comes if locks do less than they have to.
TEST(coherence, forbidden_outcomes_are_found_where_steps_are_not_ordered) {
    for (litmus const& of : litmus_tests()) {
        bool const is_of_loads_first = of.parts[0][0].what == kind::load;
        omission const planted =
            is_of_loads_first ? omission::second_step_comes_first : omission::locks_acquire_nothing;
        expect_found(named(of, true, "unordered").c_str(), run_on({}, of, true, planted));
        if (of.parts.size() > k_hosts) continue;
        expect_found(named(of, true, "far_unordered").c_str(),
                     run_on(of_two_machines(telling::at_once), of, true, planted));
    }
}

TEST(coherence, every_order_is_needed) {
    auto mutants = model::weaken_each("coherence_weak_count", quick(6000), count<k_short>(3, 3));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_beside", quick(6000), look_beside()));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_pass_on", quick(6000), pass_on<k_usual>()));
    mutants = model::found_by_any(
        mutants, model::weaken_each("coherence_weak_log", quick(6000), read_a_log(4)));
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "protocol.hpp" && m.change.where.file != "range_log.hpp";
    });
    EXPECT_GE(mutants.size(), 5U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

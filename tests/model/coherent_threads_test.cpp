// SPDX-License-Identifier: Apache-2.0
//
// Coherent memory: hosts with two threads each, which have one copy. A check that one of them has
// made holds until it synchronises, whatever the other one does meanwhile.
#include "coherence_world.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

using namespace tulle;
using namespace tulle::model::coherence;

constexpr std::size_t k_length = 4; // of a log
constexpr std::size_t k_shortest = 2;

variant with_threads(flaw wrong = flaw::none,
                     dsm::outdated_copies outdated = dsm::outdated_copies::are_dropped) {
    return {false, wrong, outdated, true};
}
variant of_two_machines(telling how, flaw wrong = flaw::none) {
    return {true, wrong, dsm::outdated_copies::are_dropped, true, how};
}

// Two threads of the first host and one of the second or third: each stores twice into a byte of
// its own after one check, and counts in a byte that all write, under a lock.
template <std::size_t Length>
model::test_body count(int times, variant chosen, host_number other = 1) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        for (unsigned k = 0; k < 3; ++k)
            t.thread([&all, k, times, other] {
                auto& h = k < 2 ? all.at(0, k) : all.at(other);
                line_number const unit = k == 0 ? 0 : 1;
                std::size_t const own = k == 1 ? 0 : 1;
                h.begin();
                for (int n = 1; n <= times; ++n) {
                    h.may_store(unit);
                    h.put(unit, own, static_cast<std::uint8_t>(2 * n - 1));
                    h.put(unit, own, static_cast<std::uint8_t>(2 * n));
                    h.lock(all.flags[0]);
                    h.add(0, 0);
                    h.unlock(all.flags[0]);
                }
                h.end();
            });
        t.at_end([=, &all] {
            for (host_number const to : {0U, 1U, 2U}) {
                auto& h = all.at(to);
                h.acquire();
                model::check(h.load(0, 0) == 3 * times, "each turn has been counted");
                model::check(h.load(0, 1) == 2 * times && h.load(1, 0) == 2 * times &&
                                 h.load(1, 1) == 2 * times,
                             "what one thread wrote is there");
            }
        });
    };
}

// What one thread stores, another one of its host passes on: there the hardware has brought it. And
// back again. `away`: another host has written the unit first.
template <std::size_t Length> model::test_body pass_on(bool away, variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        if (away) all.at(2).store(0, 1, 1);
        if (away) all.at(2).release();
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.begin();
            if (h.load(0, 0) == 0) h.store(0, 0, 1);
            h.raise_here(all.flags[0]);
            h.await_here(all.flags[3], 1);
            model::check(h.load(0, 0) == 2, "it has come back");
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            h.begin();
            h.store(1, 0, 7);
            h.await_here(all.flags[0], 1);
            h.raise(all.flags[1]);
            h.await(all.flags[2], 1);
            model::check(h.load(1, 0) == 8, "what this one has been told");
            h.raise_here(all.flags[3]);
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.begin();
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 1 && h.load(1, 0) == 7, "it has come");
            h.store(0, 0, 2);
            h.store(1, 0, 8);
            h.raise(all.flags[2]);
            h.end();
        });
    };
}

// A thread stores for long after one check, while another one of its host releases and acquires,
// again and again, and another host stores beside it and fetches the unit. Then that host writes
// the same byte, which none of these releases may undo.
template <std::size_t Length> model::test_body hold_on(bool away, variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<Length>>(chosen);
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.begin();
            for (std::uint8_t n = 1; n <= 4; ++n) {
                h.store(1, 0, n);
                h.release();
                h.acquire();
            }
            h.end();
        });
        t.thread([&all, away] {
            auto& h = all.at(0, 1);
            h.begin();
            if (away) h.await(all.flags[0], 1);
            h.store(0, 0, 1);
            h.raise(all.flags[1]);
            h.await(all.flags[2], 1);
            h.may_store(0);
            for (std::uint8_t n = 2; n <= 4; ++n) h.put(0, 0, n);
            h.raise(all.flags[3]);
            h.end();
        });
        t.thread([&all, away] {
            auto& h = all.at(1);
            h.begin();
            if (away) h.store(0, 1, 1);
            if (away) h.raise(all.flags[0]);
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 1, "the first has come");
            h.raise(all.flags[2]);
            h.store(0, 1, 2);
            h.release();
            h.acquire();
            model::check(h.load(0, 1) == 2, "it is there, whatever else is in the unit");
            h.await(all.flags[3], 1);
            model::check(h.load(0, 0) == 4, "the last has come");
            h.store(0, 0, 9);
            h.end();
            h.release();
        });
        t.at_end([&all] {
            for (host_number const to : {2U, 0U}) {
                auto& h = all.at(to);
                h.acquire();
                model::check(h.load(0, 0) == 9 && h.load(1, 0) == 4, "nothing is undone");
                h.release();
            }
        });
    };
}

// Both threads of a host look at what has come, when either of them has fetched it.
model::test_body look_both() {
    return [](model::test& t) {
        auto& all = t.make<hosts<k_length>>(with_threads());
        for (unsigned k = 0; k < 2; ++k)
            t.thread([&all, k] {
                auto& h = all.at(0, k);
                h.begin();
                h.await(all.flags[0], 1);
                model::check(h.load(0, 0) == 1, "it has come");
                h.end();
            });
        t.thread([&all] {
            auto& h = all.at(1);
            h.begin();
            h.store(0, 0, 1);
            h.raise(all.flags[0]);
            h.end();
        });
    };
}

// A thread begins to store while another one of its host releases what it has stored before, and
// comes to a point where it holds no check. `away`: another host is the home. `is_slow`: between
// its check and its store the other host looks at what was there before. `runs`: it has run before,
// and comes to a point ahead of its check.
model::test_body begin_late(bool away, bool is_slow = false, bool runs = false) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(with_threads());
        if (away) {
            all.at(1).store(1, 0, 1);
            all.at(1).store(0, 0, 9);
            all.at(1).release();
            all.at(0).acquire();
        }
        all.at(0).begin();
        if (runs) all.at(0, 1).begin();
        all.at(0).store(0, 0, 1);
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.release();
            h.raise(all.flags[0]);
            h.release();
            h.end();
        });
        t.thread([&all, is_slow, runs] {
            auto& h = all.at(0, 1);
            if (runs)
                h.pass();
            else
                h.begin();
            h.may_store(0);
            while (is_slow && all.flags[2].load(std::memory_order_relaxed) == 0)
                model::machine::pause();
            h.put(0, 1, 1);
            h.raise(all.flags[1]);
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.begin();
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "what was there before");
            all.flags[2].store(1, std::memory_order_relaxed);
            h.await(all.flags[1], 1);
            model::check(h.load(0, 1) == 1, "what came late");
            h.end();
        });
    };
}

// A thread stores by a check that is older than two releases of another one of its host, the second
// of which watches something else, and a third host fetches what was there before.
model::test_body fetch_older() {
    return [](model::test& t) {
        auto& all = t.make<hosts<k_length>>(with_threads());
        for (unsigned k = 0; k < 2; ++k) all.at(0, k).begin();
        all.at(0, 1).store(0, 1, 1);
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.raise(all.flags[0]);
            h.store(1, 0, 1);
            h.release();
            h.await_here(all.flags[1], 1);
            h.raise(all.flags[2]);
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            h.put(0, 1, 2);
            h.raise_here(all.flags[1]);
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(1);
            h.begin();
            h.await(all.flags[0], 1);
            model::check(h.load(0, 1) != 0, "what was there before");
            h.await(all.flags[2], 1);
            model::check(h.load(0, 1) == 2, "what was stored last");
            h.end();
        });
    };
}

// What a thread has stored just before it comes to such a point, or does nothing for a while, while
// another one of its host releases.
model::test_body store_last(bool rests) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_shortest>>(with_threads());
        all.at(1).store(0, 0, 9);
        all.at(1).release();
        all.at(0).acquire();
        for (unsigned k = 0; k < 2; ++k) all.at(0, k).begin();
        all.at(0).store(0, 0, 1);
        t.thread([&all] {
            all.at(0, 0).release();
            all.at(0, 0).release();
        });
        t.thread([&all, rests] {
            auto& h = all.at(0, 1);
            h.store(0, 1, 1);
            if (rests) h.end();
            if (rests) h.begin();
            h.release();
        });
        t.at_end([&all] {
            all.at(1).acquire();
            model::check(all.at(1).load(0, 0) == 1 && all.at(1).load(0, 1) == 1, "both are there");
        });
    };
}

// A thread waits for a unit from another machine, while another one of its host hears that the unit
// has been written, and then looks at it. `stores`: the one that waits then stores into it.
model::test_body hear_meanwhile(bool stores, variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(chosen);
        all.at(2).store(0, 0, 1);
        all.at(2).store(0, 1, 5);
        all.at(2).release();
        all.at(0).acquire();
        t.thread([&all, stores] {
            auto& h = all.at(0, 0);
            h.begin();
            model::check(h.load(0, 1) == 5, "what it has asked for");
            if (stores) h.store(0, 1, 6);
            h.end();
            if (stores) h.release();
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            h.begin();
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 2, "what it has heard of");
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.begin();
            h.store(0, 0, 2);
            h.raise(all.flags[0]);
            h.end();
        });
        t.at_end([&all, stores] {
            for (host_number const to : {2U, 1U, 0U}) {
                auto& h = all.at(to);
                h.acquire();
                model::check(h.load(0, 0) == 2 && h.load(0, 1) == (stores ? 6 : 5),
                             "both are there");
            }
        });
    };
}

// A thread waits for a unit from another machine, while another one of its host, which keeps their
// worker, wants the same unit, stores into it, and then hears that it has been written elsewhere.
model::test_body want_both(variant chosen) {
    chosen.has_one_worker = true;
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(chosen);
        all.at(2).store(0, 0, 1);
        all.at(2).store(0, 1, 5);
        all.at(2).release();
        all.at(0).acquire();
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.take_worker();
            h.begin();
            model::check(h.load(0, 0) != 0, "what it has asked for");
            h.end();
            h.give_worker();
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            h.take_worker();
            h.begin();
            model::check(h.load(0, 1) == 5, "what both have asked for");
            h.store(0, 1, 6);
            h.give_worker();
            h.take_worker();
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 2 && h.load(0, 1) == 6, "both are there");
            h.end();
            h.release();
            h.give_worker();
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.begin();
            h.store(0, 0, 2);
            h.raise(all.flags[0]);
            h.end();
        });
        t.at_end([&all] {
            for (host_number const to : {2U, 1U, 0U}) {
                auto& h = all.at(to);
                h.acquire();
                model::check(h.load(0, 0) == 2 && h.load(0, 1) == 6, "nothing is lost");
            }
        });
    };
}

// A thread may store into a unit, and waits for others from another machine before it does, while
// another one of its host releases, again and again. `away`: another host has that unit.
model::test_body wait_between(bool away, variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(chosen);
        all.at(2).store(1, 0, 1);
        if (away) all.at(1).store(0, 1, 9);
        for (host_number const from : {1U, 2U}) all.at(from).release();
        all.at(0).acquire();
        for (unsigned k = 0; k < 2; ++k) all.at(0, k).begin();
        all.at(0, 0).may_store(0);
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.may_load(1);
            h.put(0, 0, 1);
            h.end();
            h.raise(all.flags[0]);
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            for (int k = 0; k < 3; ++k) h.release();
            h.end();
        });
        t.thread([&all, away] {
            auto& h = all.at(1);
            h.begin();
            h.acquire();
            model::check(h.load(0, 1) == (away ? 9 : 0), "it has a copy");
            h.await(all.flags[0], 1);
            model::check(h.load(0, 0) == 1, "it has come");
            h.end();
        });
    };
}

// Both threads of a host release at the same time what one of them has stored; or one hears of what
// another machine has stored beside it, and the other one a little later of more.
model::test_body release_both(variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(chosen);
        all.at(2).store(0, 1, 1);
        all.at(2).release();
        all.at(0).acquire();
        t.thread([&all] {
            auto& h = all.at(0, 0);
            h.begin();
            h.store(0, 0, 1);
            h.raise_here(all.flags[0]);
            h.release();
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(0, 1);
            h.begin();
            h.await_here(all.flags[0], 1);
            h.raise(all.flags[1]);
            h.end();
        });
        t.thread([&all] {
            auto& h = all.at(2);
            h.begin();
            h.await(all.flags[1], 1);
            model::check(h.load(0, 0) == 1, "it has come");
            h.end();
        });
    };
}
model::test_body hear_both(variant chosen) {
    return [=](model::test& t) {
        auto& all = t.make<hosts<k_length>>(chosen);
        all.at(2).store(0, 1, 1);
        all.at(2).release();
        all.at(0).acquire();
        for (unsigned k = 0; k < 2; ++k)
            t.thread([&all, k] {
                auto& h = all.at(0, k);
                h.begin();
                if (k == 0) h.store(0, 0, 3);
                h.await(all.flags[k], 1);
                int const found = h.load(0, 1);
                model::check(found == 3 || (found == 2 && k == 0), "what it has heard of");
                if (k == 0) all.flags[2].store(1, std::memory_order_relaxed);
                while (all.flags[2].load(std::memory_order_relaxed) == 0) model::machine::pause();
                model::check(k == 0 || h.load(0, 1) == 3, "nothing older has come since");
                h.end();
            });
        t.thread([&all] {
            auto& h = all.at(2);
            h.begin();
            h.store(0, 1, 2);
            h.raise(all.flags[0]);
            h.store(0, 1, 3);
            h.raise(all.flags[1]);
            h.end();
        });
    };
}

model::options random(std::size_t executions) { return model::random(executions); }

void expect_right(std::string const& name, std::size_t executions, model::test_body const& body) {
    model::result const r = model::explore(name, random(executions), body);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(coherent_threads, count_under_a_lock) {
    expect_right("coherent_threads_count", 10000, count<k_length>(2, with_threads()));
    expect_right("coherent_threads_count_short", 5000, count<k_shortest>(3, with_threads()));
}

TEST(coherent_threads, pass_on_what_others_of_their_host_wrote) {
    expect_right("coherent_threads_pass_on", 10000, pass_on<k_length>(false, with_threads()));
    expect_right("coherent_threads_pass_on_away", 10000, pass_on<k_length>(true, with_threads()));
}

TEST(coherent_threads, keep_the_right_to_store_while_others_release) {
    expect_right("coherent_threads_hold_on", 10000, hold_on<k_length>(false, with_threads()));
    expect_right("coherent_threads_hold_on_away", 10000, hold_on<k_length>(true, with_threads()));
}

TEST(coherent_threads, come_and_go) {
    expect_right("coherent_threads_look", 10000, look_both());
    expect_right("coherent_threads_last", 10000, store_last(false));
    expect_right("coherent_threads_rest", 10000, store_last(true));
    expect_right("coherent_threads_begin", 20000, begin_late(false));
    expect_right("coherent_threads_begin_away", 20000, begin_late(true));
    expect_right("coherent_threads_begin_slowly", 20000, begin_late(false, true));
    expect_right("coherent_threads_begin_slowly_away", 20000, begin_late(true, true));
    expect_right("coherent_threads_older", 40000, fetch_older());
    expect_right("coherent_threads_check_slowly", 20000, begin_late(false, true, true));
    expect_right("coherent_threads_check_slowly_away", 20000, begin_late(true, true, true));
}

TEST(coherent_threads, of_two_machines) {
    for (telling const how : k_each_way) {
        SCOPED_TRACE(static_cast<int>(how));
        variant const far = of_two_machines(how);
        expect_right("coherent_threads_far_count", 5000, count<k_length>(2, far, 2));
        expect_right("coherent_threads_far_pass_on", 5000, pass_on<k_length>(true, far));
        expect_right("coherent_threads_far_hold_on", 5000, hold_on<k_length>(true, far));
    }
}

TEST(coherent_threads, go_on_while_one_waits_for_another_machine) {
    for (telling const how : k_each_way) {
        SCOPED_TRACE(static_cast<int>(how));
        variant const far = of_two_machines(how);
        expect_right("coherent_threads_hear", 20000, hear_meanwhile(false, far));
        expect_right("coherent_threads_hear_and_store", 20000, hear_meanwhile(true, far));
        expect_right("coherent_threads_want_both", 20000, want_both(far));
        expect_right("coherent_threads_wait_at_home", 20000, wait_between(false, far));
        expect_right("coherent_threads_wait_away", 20000, wait_between(true, far));
        expect_right("coherent_threads_release_both", 10000, release_both(far));
        expect_right("coherent_threads_hear_both", 10000, hear_both(far));
    }
}

TEST(coherent_threads, with_copies_that_are_refreshed) {
    variant const refreshed = with_threads(flaw::none, dsm::outdated_copies::are_refreshed);
    expect_right("coherent_threads_refreshed_count", 5000, count<k_length>(2, refreshed));
    expect_right("coherent_threads_refreshed_pass_on", 5000, pass_on<k_length>(true, refreshed));
    expect_right("coherent_threads_refreshed_hold_on", 5000, hold_on<k_length>(true, refreshed));
    expect_right("coherent_threads_refreshed_at_home", 5000, hold_on<k_length>(false, refreshed));
}

void expect_found(char const* name, model::test_body const& body,
                  char const* message = "check failed") {
    model::options o = random(60000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_NE(r.message.find(message), std::string::npos) << name << ": " << r;
}

TEST(coherent_threads, of_flawed_protocols_are_found_to_see_other_values) {
    for (bool const away : {false, true})
        expect_found(away ? "coherent_threads_no_grace_away" : "coherent_threads_no_grace",
                     hold_on<k_length>(away, with_threads(flaw::rights_end_at_once)));
    expect_found("coherent_threads_old_twin",
                 hold_on<k_length>(true, with_threads(flaw::twins_stay_as_they_were)));
    expect_found("coherent_threads_dropped",
                 hold_on<k_length>(true, with_threads(flaw::watched_units_are_dropped)));
}

void expect_flawed_rules_found(telling how) {
    auto const far = [=](flaw wrong) { return of_two_machines(how, wrong); };
    expect_found("coherent_threads_current",
                 hear_meanwhile(false, far(flaw::what_comes_is_current)));
    for (bool const away : {false, true}) {
        expect_found(away ? "coherent_threads_no_check_away" : "coherent_threads_no_check",
                     wait_between(away, far(flaw::who_waits_holds_no_check)));
        expect_found(away ? "coherent_threads_no_older_away" : "coherent_threads_no_older",
                     wait_between(away, far(flaw::who_goes_on_holds_no_older_check)));
    }
    expect_found("coherent_threads_left", want_both(far(flaw::who_wants_what_has_come_leaves_it)),
                 "livelock");
    expect_found("coherent_threads_ends_again", want_both(far(flaw::what_has_ended_ends_again)));
    expect_found("coherent_threads_ends_early", want_both(far(flaw::what_is_under_way_is_ended)));
    expect_found("coherent_threads_release_in_parts",
                 release_both(far(flaw::others_go_on_during_a_release)));
    expect_found("coherent_threads_acquire_in_parts",
                 hear_both(far(flaw::others_go_on_during_an_acquire)));
}

TEST(coherent_threads, that_go_on_by_flawed_rules_are_found_to_see_other_values) {
    for (telling const how : k_each_way) {
        SCOPED_TRACE(static_cast<int>(how));
        expect_flawed_rules_found(how);
    }
}

TEST(coherent_threads, every_order_is_needed) {
    auto const weaken = [](char const* name, model::test_body const& body) {
        return model::weaken_each(name, random(6000), body);
    };
    auto mutants = weaken("coherent_threads_weak_look", look_both());
    mutants =
        model::found_by_any(mutants, weaken("coherent_threads_weak_begin", begin_late(false)));
    mutants =
        model::found_by_any(mutants, weaken("coherent_threads_weak_begin_away", begin_late(true)));
    mutants = model::found_by_any(
        mutants, weaken("coherent_threads_weak_check_away", begin_late(true, true, true)));
    mutants = model::found_by_any(mutants, weaken("coherent_threads_weak_last", store_last(false)));
    mutants = model::found_by_any(mutants, weaken("coherent_threads_weak_rest", store_last(true)));
    mutants = model::found_by_any(mutants, weaken("coherent_threads_weak_want",
                                                  want_both(of_two_machines(telling::at_once))));
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "grace_periods.hpp" &&
               m.change.where.file != "rest_flag.hpp" &&
               m.change.where.file != "coherence_world.hpp";
    });
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

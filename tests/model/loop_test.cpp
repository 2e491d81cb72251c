// SPDX-License-Identifier: Apache-2.0
//
// A range of iterations between its owner and thieves, under every interleaving and stale read the
// bounds allow: each iteration is begun once, by the owner or by a thief, unless the range was
// closed; and nothing of it is touched when the owner has gone.
#include "explorer/explore.hpp"
#include "loop/loop_range.hpp"
#include "loop/participants.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;
using loop::iterations;
using loop::steal_effort;

constexpr std::size_t k_most = 6;

struct shape {
    std::uint64_t count; // iterations
    std::uint64_t chunk;
    int thieves;
    int steals; // of each
    bool asymmetric = true;
    steal_effort effort = steal_effort::with_fence;
    std::uint64_t own = 2; // what the owner makes its own
    bool closes = false;   // the last thief, instead of stealing
    // Thieves have ranges of their own, from which they run what they have stolen.
    bool from_thieves = false;
};

template <class Machine> struct bench {
    using range = loop::loop_range<Machine>;
    explicit bench(shape const& s) : all(s.asymmetric) { all.open({0, s.count}); }

    void run(iterations some) {
        for (std::uint64_t i = some.begin; i != some.end; ++i)
            model::check(runs.at(i).fetch_add(1, relaxed) == 0, "an iteration is begun once");
    }
    // What a participant does with its range.
    void drain(range& r, shape const& s) {
        for (;;) {
            std::uint64_t const first = r.begun();
            std::uint64_t const last =
                r.take(first, s.chunk) ? first + s.chunk : r.take_cold(first, s.chunk, s.own);
            model::check(last - first <= s.chunk, "no more than was asked for");
            if (last == first) return;
            run({first, last});
        }
    }
    iterations steal(steal_effort effort) {
        return all.try_pin() ? all.steal(effort) : iterations{};
    }

    range all;
    std::array<model::atomic<int>, k_most> runs;
    std::array<range, 3> others{range(true), range(true), range(true)};
};

template <class Machine> void steal_and_run(bench<Machine>& b, shape const& s, std::size_t thief) {
    for (int n = 0; n < s.steals; ++n) {
        iterations const got = b.steal(s.effort);
        if (got.empty()) continue;
        if (!s.from_thieves) {
            b.run(got);
        } else {
            b.others.at(thief).open(got);
            b.drain(b.others.at(thief), s);
        }
    }
}

template <class Machine = model::machine> model::test_body body(shape s) {
    return [s](model::test& t) {
        auto& b = t.make<bench<Machine>>(s);
        t.thread([&b, s] { b.drain(b.all, s); });
        int const thieves = s.thieves - (s.closes ? 1 : 0);
        for (int i = 0; i < thieves; ++i)
            t.thread([&b, s, i] { steal_and_run(b, s, static_cast<std::size_t>(i)); });
        if (s.closes) t.thread([&b] { b.all.close(); });
        t.at_end([&b, s] {
            for (std::uint64_t i = 0; i < s.count; ++i)
                model::check(s.closes || b.runs.at(i).load(relaxed) == 1, "no iteration is lost");
            model::check(b.all.size_hint() == 0, "nothing is left");
        });
    };
}

model::options exhaustive(unsigned preemptions) { return model::exhaustive(preemptions, 200000); }
using model::random;

void expect_holds(char const* name, model::options const& o, shape const& s) {
    model::result const r = model::explore(name, o, body(s));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(loop_range, one_iteration_one_thief) {
    expect_holds("loop_one", exhaustive(3), {.count = 1, .chunk = 1, .thieves = 1, .steals = 1});
}
TEST(loop_range, few_iterations_one_thief) {
    expect_holds("loop_few", exhaustive(2), {.count = 3, .chunk = 1, .thieves = 1, .steals = 2});
}
TEST(loop_range, chunks) {
    expect_holds("loop_chunks", exhaustive(2), {.count = 5, .chunk = 2, .thieves = 1, .steals = 2});
}
TEST(loop_range, shared_part_only) {
    expect_holds(
        "loop_shared", random(40000),
        {.count = 6, .chunk = 1, .thieves = 2, .steals = 2, .effort = steal_effort::shared_only});
}
TEST(loop_range, all_that_is_left_is_the_owners) {
    expect_holds("loop_own", random(40000),
                 {.count = 6, .chunk = 1, .thieves = 2, .steals = 2, .own = 6});
}
TEST(loop_range, stampede) {
    expect_holds("loop_stampede", random(60000),
                 {.count = 4, .chunk = 1, .thieves = 3, .steals = 2});
}
TEST(loop_range, without_heavy_fence) {
    expect_holds("loop_symmetric", model::without_heavy_fence(random(40000)),
                 {.count = 5, .chunk = 2, .thieves = 2, .steals = 2, .asymmetric = false});
}
TEST(loop_range, closed_by_another) {
    expect_holds("loop_closed", random(40000),
                 {.count = 5, .chunk = 1, .thieves = 2, .steals = 2, .closes = true});
}
TEST(loop_range, thieves_have_ranges_too) {
    expect_holds("loop_two", random(40000),
                 {.count = 6, .chunk = 1, .thieves = 2, .steals = 2, .from_thieves = true});
}

// --- those who take part (loop/participants.hpp), with the ranges in their frames ----------------

struct member {
    loop::loop_range<model::machine> range{true};
    std::uint64_t number = 0;
    model::plain<member*> next{nullptr};
    model::plain<member*> prev{nullptr};
};

constexpr std::uint64_t k_never = k_most; // no iteration ends it early

struct early_end {
    std::uint64_t at = k_never;
    // Like an exception; else like a flag, after which the participant looks for more.
    bool leaves = false;
};

struct crew {
    explicit crew(early_end e) : end(e) {}

    // False: it leaves.
    [[nodiscard]] bool run_range(member& self, int& late) {
        for (;;) {
            std::uint64_t const first = self.range.begun();
            std::uint64_t const last =
                self.range.take(first, 1) ? first + 1 : self.range.take_cold(first, 1, 2);
            if (last == first) return true;
            model::check(runs.at(first).fetch_add(1, relaxed) == 0, "an iteration is begun once");
            late += static_cast<int>(has_ended.load(acquire)); // pairs with the store below
            model::check(late <= 1,
                         "after the end a thread begins at most what it takes at that moment");
            if (first != end.at) continue;
            all.end_early();
            has_ended.store(true, release); // pairs with the load above
            if (end.leaves) return false;
        }
    }
    iterations steal() {
        for (;;) {
            bool some_left = false;
            iterations const found = all.steal(steal_effort::with_fence, some_left);
            if (!found.empty() || !some_left) return found;
            model::machine::pause();
        }
    }
    void take_part(std::size_t who, iterations first) {
        member& self = frames.at(who).emplace();
        int late = 0;
        all.enter(self);
        for (bool some = all.begin(self, first); some && run_range(self, late);)
            some = all.begin(self, steal());
        all.leave(self);
        frames.at(who).reset(); // an access after this is an error
    }
    void help(std::size_t who) {
        iterations const found = steal();
        if (!found.empty()) take_part(who, found);
    }
    void check_end(std::uint64_t count) const {
        for (std::uint64_t i = 0; i < count; ++i)
            model::check(end.at != k_never || runs.at(i).load(relaxed) == 1,
                         "no iteration is lost");
        model::check(all.has_ended_early() == (end.at != k_never), "the end is known");
    }

    early_end end;
    loop::participants<model::machine, member> all;
    std::array<std::optional<member>, 3> frames; // the storage stays when a frame is gone
    std::array<model::atomic<int>, k_most> runs;
    model::atomic<bool> has_ended{false};
};

model::test_body crew_body(std::uint64_t count, std::size_t helpers, early_end end = {}) {
    return [=](model::test& t) {
        auto& c = t.make<crew>(end);
        t.thread([&c, count] { c.take_part(0, {0, count}); });
        for (std::size_t who = 1; who <= helpers; ++who) t.thread([&c, who] { c.help(who); });
        t.at_end([&c, count] { c.check_end(count); });
    };
}

TEST(participants, each_iteration_is_begun_once) {
    model::result const r = model::explore("loop_crew", exhaustive(2), crew_body(3, 1));
    EXPECT_TRUE(r.passed()) << r;
    model::result const more = model::explore("loop_crew_of_three", random(30000), crew_body(5, 2));
    EXPECT_TRUE(more.passed()) << more;
}

// A thief has found its range, which looks as if something were left, when the owner leaves.
model::test_body leaving_body() {
    return [](model::test& t) {
        auto& c = t.make<crew>(early_end{});
        t.thread([&c] { c.take_part(0, {0, 1}); });
        t.thread([&c] {
            bool some_left = false;
            iterations const found = c.all.steal(steal_effort::with_fence, some_left);
            if (!found.empty()) c.take_part(1, found);
        });
        t.at_end([&c] { c.check_end(1); });
    };
}

TEST(participants, nobody_has_the_range_of_an_owner_that_leaves) {
    model::result const r = model::explore("loop_leave", exhaustive(2), leaving_body());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(participants, nothing_is_begun_after_an_early_end) {
    for (bool const leaves : {false, true}) {
        model::result const r = model::explore(leaves ? "loop_throw" : "loop_flag", random(30000),
                                               crew_body(6, 1, {0, leaves}));
        EXPECT_TRUE(r.passed()) << r;
        char const* const name = leaves ? "loop_throw_of_three" : "loop_flag_of_three";
        model::result const more =
            model::explore(name, random(30000), crew_body(6, 2, {1, leaves}));
        EXPECT_TRUE(more.passed()) << more;
    }
}

// --- that these tests can fail -------------------------------------------------------------------

struct fenceless : model::machine {
    static void heavy_fence() noexcept { fence_seq_cst(); }
};

TEST(loop_range, a_fence_on_the_thief_alone_is_not_enough) {
    model::options o = exhaustive(3);
    o.expect_failure = true;
    model::result const r = model::explore(
        "loop_fenceless", o, body<fenceless>({.count = 3, .chunk = 1, .thieves = 1, .steals = 2}));
    EXPECT_TRUE(r.failed);
}

TEST(loop_range, thieves_are_not_idle) {
    std::array<std::size_t, k_most> stolen{};
    model::result const r = model::explore("loop_stolen", random(20000), [&](model::test& t) {
        shape const s{.count = 4, .chunk = 1, .thieves = 1, .steals = 2};
        auto& b = t.make<bench<model::machine>>(s);
        auto& count = t.make<std::uint64_t>(0U);
        t.thread([&b, s] { b.drain(b.all, s); });
        t.thread([&] {
            for (int n = 0; n < 2; ++n) {
                iterations const got = b.steal(steal_effort::with_fence);
                count += got.end - got.begin;
                b.run(got);
            }
        });
        t.at_end([&] { ++stolen.at(count); });
    });
    EXPECT_TRUE(r.passed()) << r;
    for (std::size_t times = 0; times <= 3; ++times)
        EXPECT_GT(stolen.at(times), r.executions / 1000) << times;
}

TEST(loop_range, no_order_is_idle) {
    auto const mutants = model::weaken_each(
        "loop_weakened", random(40000), body({.count = 4, .chunk = 1, .thieves = 2, .steals = 2}));
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

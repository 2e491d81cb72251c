// SPDX-License-Identifier: Apache-2.0
//
// Clocks whose activities arrive together: nobody goes on before all have come, none is left
// behind, whichever of them calls the home; also when one drops, and when a place dies.
#include "sync/condition_core.hpp"
#include "sync_world.hpp"
#include "team/clock_arrivals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace {

using namespace tulle;

struct model_sync {
    using mutex = base::basic_spin_lock<model::machine>;
    class condition {
    public:
        void wait(std::unique_lock<mutex>& held) {
            m_core.wait([&held] { held.mutex()->unlock(); });
            held.mutex()->lock();
        }
        void notify_all() { m_core.notify_all(); }

    private:
        sync::condition_core<model::parking> m_core;
    };
    struct dead_place {
        int place;
    };
    [[noreturn]] static void throw_dead_place(int place) { throw dead_place{place}; }
    [[nodiscard]] static bool is_dead(int /*place*/) noexcept { return false; }
    static void yield() noexcept { model::machine::pause(); }
};

using core = teams::clock_core<model_sync>;
using arrivals = teams::clock_arrivals<model_sync>;

enum class fault { none, loses_an_arrival, counts_one_twice, releases_one_too_many };

// The home, with a fault that a test must notice.
struct home_of {
    core& clock;
    int place;
    fault planted = fault::none;

    void arrive(std::int64_t n) const {
        if (planted == fault::loses_an_arrival) --n;
        if (planted == fault::counts_one_twice) ++n;
        if (n != 0) clock.arrive(place, n);
    }
    [[nodiscard]] teams::clock_release arrive_and_wait(std::int64_t n) const {
        teams::clock_release got = clock.arrive_and_wait(place, n);
        if (planted == fault::releases_one_too_many) ++got.activities;
        return got;
    }
    void note_phase(std::int64_t activities) const { *last = activities; }
    [[nodiscard]] std::int64_t last_phase() const { return *last; }

    std::int64_t* last; // both under the lock of the arrivals
};

struct meeting {
    explicit meeting(int members, fault planted_fault = fault::none, int places_of_all = 2)
        : planted(planted_fault), place_count(places_of_all) {
        for (int k = 1; k < members; ++k) home.join(k % place_count);
    }

    model::parking_world world;
    core home{0};
    std::array<arrivals, 2> places;
    std::array<std::int64_t, 2> last_phases{};
    std::array<model::plain<int>, 4> progress;
    fault planted;
    int place_count;

    std::uint64_t advance(int self) {
        int const place = self % place_count;
        auto const at = static_cast<std::size_t>(place);
        return places[at].wait(home_of{home, place, planted, &last_phases[at]});
    }
    // Each phase has two halves, so that nobody writes while others read.
    void run(int self, int members, int phases) {
        for (int phase = 1; phase <= phases; ++phase) {
            progress[static_cast<std::size_t>(self)].store(phase);
            check_phase(advance(self), 2 * phase - 1);
            for (int k = 0; k < members; ++k)
                model::check(progress[static_cast<std::size_t>(k)].load() == phase,
                             "all have come so far");
            check_phase(advance(self), 2 * phase);
        }
    }
    static void check_phase(std::uint64_t reached, int expected) {
        model::check(reached == static_cast<std::uint64_t>(expected), "the phases are counted");
    }
};

model::test_body together(int members, int phases, int places = 2, fault planted = fault::none) {
    return [=](model::test& t) {
        auto& m = t.make<meeting>(members, planted, places);
        for (int self = 0; self < members; ++self)
            t.thread([=, &m] { m.run(self, members, phases); });
    };
}

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

void expect_failure(char const* name, char const* message, model::test_body const& body) {
    model::options o = random(6000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_FALSE(r.passed()) << name;
    EXPECT_NE(r.message.find(message), std::string::npos) << r;
}

TEST(clock, nobody_goes_on_before_all_have_come) {
    for (int const members : {2, 3, 4}) {
        model::result const r = model::explore("clock", random(4000), together(members, 2));
        EXPECT_TRUE(r.passed()) << r;
    }
}

// So many that a call brings several.
TEST(clock, all_of_a_place_go_on_together) {
    model::result const r = model::explore("clock_place", random(6000), together(4, 2, 1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(clock, an_arrival_that_is_lost_is_noticed) {
    expect_failure("clock_loses", "deadlock", together(4, 1, 1, fault::loses_an_arrival));
}

TEST(clock, an_arrival_that_is_counted_twice_is_noticed) {
    expect_failure("clock_counts", "", // of one kind or another
                   together(4, 1, 1, fault::counts_one_twice));
}

// One of each place advances once more than the other, which has dropped.
TEST(clock, one_that_drops_is_not_waited_for) {
    model::result const r = model::explore("clock_drop", random(6000), [](model::test& t) {
        auto& m = t.make<meeting>(4);
        for (int self = 0; self < 4; ++self)
            t.thread([self, &m] {
                meeting::check_phase(m.advance(self), 1);
                if (self < 2) meeting::check_phase(m.advance(self), 2);
                if (m.home.drop(self % 2)) m.progress[0].store(1);
            });
        t.at_end([&m] { model::check(m.progress[0].load() == 1, "it is gone in the end"); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

// More threads than take part: each phase lets as many go as it waits for.
model::test_body in_excess(fault planted) {
    return [=](model::test& t) {
        auto& m = t.make<meeting>(2, planted);
        for (int self = 0; self < 4; ++self)
            t.thread([self, &m] {
                m.progress[static_cast<std::size_t>(self)].store(static_cast<int>(m.advance(self)));
            });
        t.at_end([&m] {
            int sum = 0;
            for (auto const& each : m.progress) sum += each.load();
            model::check(sum == 1 + 1 + 2 + 2, "two in each phase");
        });
    };
}

TEST(clock, those_in_excess_wait_for_the_next_phase) {
    model::result const r = model::explore("clock_excess", random(6000), in_excess(fault::none));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(clock, a_release_too_many_is_noticed) {
    expect_failure("clock_releases", "two in each phase", in_excess(fault::releases_one_too_many));
}

// Whoever waits, or comes later, learns it, and nobody sleeps on.
TEST(clock, a_place_that_dies_ends_all_waits) {
    int before = 0;
    int learnt = 0;
    model::result const r = model::explore("clock_death", random(6000), [&](model::test& t) {
        auto& m = t.make<meeting>(4); // of which one thread, of place 1, never comes
        for (int const self : {0, 2})
            t.thread([self, &m, &before, &learnt] {
                try {
                    static_cast<void>(m.advance(self));
                    ++before;
                } catch (model_sync::dead_place const& d) {
                    model::check(d.place == 1, "the place that has died");
                    ++learnt;
                }
            });
        t.thread([&m] { m.home.lose(1); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_EQ(before, 0);
    EXPECT_GT(learnt, 0);
}

// A call that brings some along and fails, fails for as many, and the others meet without them.
TEST(clock, a_call_that_fails_does_so_for_those_that_it_brings) {
    struct failing_home : home_of {
        bool& has_failed;
        void arrive(std::int64_t n) const {
            if (!std::exchange(has_failed, true)) throw n;
            home_of::arrive(n);
        }
        [[nodiscard]] teams::clock_release arrive_and_wait(std::int64_t n) const {
            return home_of::arrive_and_wait(n);
        }
    };
    int failures = 0;
    model::result const r = model::explore("clock_failure", random(6000), [&](model::test& t) {
        auto& m = t.make<meeting>(3);
        auto& has_failed = t.make<bool>(false);
        for (int self = 0; self < 3; ++self)
            t.thread([&m, &has_failed, &failures] {
                try {
                    meeting::check_phase(
                        m.places[0].wait(
                            failing_home{{m.home, 0, fault::none, &m.last_phases[0]}, has_failed}),
                        1);
                } catch (std::int64_t) {
                    ++failures;
                }
                static_cast<void>(m.home.drop(0));
            });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(failures, 0);
}

} // namespace

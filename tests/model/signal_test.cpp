// SPDX-License-Identifier: Apache-2.0
//
// The signal: the waiter goes on exactly when all have notified, sees what they did, and may free
// the signal at once.
#include "sync/signal_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;
using core = sync::signal_core<model::parking>;

struct parent {
    explicit parent(int children) { signal.emplace().open(static_cast<std::uint32_t>(children)); }

    model::parking_world world;
    std::optional<core> signal; // its storage stays when it is destroyed
    std::array<model::plain<int>, 3> parts;
    int time_outs = 0;

    void report(std::size_t child) {
        core& s = *signal;
        parts[child].store(1);
        model::check(s.notify() == sync::signal_error::none, "each may notify once");
    }
    void gather(int children) {
        model::check(signal->wait() == sync::signal_error::none, "it is the only waiter");
        finish(children);
    }
    void gather_patiently(int children) {
        for (bool in_time = false; !in_time; time_outs += !in_time)
            model::check(signal->wait_until(2, in_time) == sync::signal_error::none,
                         "it is the only waiter");
        finish(children);
    }
    void finish(int children) {
        int sum = 0;
        for (int i = 0; i < children; ++i) sum += parts[static_cast<std::size_t>(i)].load();
        model::check(sum == children, "all parts are there");
        signal.reset(); // an access after this is an error
    }
};

model::test_body body(int children, bool timed, int* parks = nullptr, int* time_outs = nullptr) {
    return [=](model::test& t) {
        auto& p = t.make<parent>(children);
        t.thread(
            [&p, children, timed] { timed ? p.gather_patiently(children) : p.gather(children); });
        for (int i = 0; i < children; ++i)
            t.thread([&p, i] { p.report(static_cast<std::size_t>(i)); });
        if (timed) t.thread([&p] { p.world.time_passes(); });
        t.at_end([=, &p] {
            if (parks != nullptr) *parks += p.world.parks;
            if (time_outs != nullptr) *time_outs += p.time_outs;
        });
    };
}

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(signal, one_child) {
    model::options const o = model::without_heavy_fence(model::exhaustive(3, 200000));
    int parks = 0;
    model::result const r = model::explore("signal_one", o, body(1, false, &parks));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    EXPECT_GT(parks, 10);
}

TEST(signal, three_children) {
    int parks = 0;
    model::result const r = model::explore("signal_three", random(40000), body(3, false, &parks));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(parks, 1000);
}

TEST(signal, time_outs_race_with_the_last) {
    int time_outs = 0;
    model::result const r =
        model::explore("signal_timed", random(60000), body(2, true, nullptr, &time_outs));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(time_outs), r.executions / 60);
}

TEST(signal, every_order_is_needed) {
    model::options o = random(20000);
    // Its own test does.
    o.weakens = [](model::site const& s) { return s.file != "sole_waiter.hpp"; };
    auto const mutants = model::weaken_each("signal_weakened", o, body(2, true));
    EXPECT_GE(mutants.size(), 3U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

// The notifier uses the signal again while the first waiter has been resumed, but has not returned.
struct used_again {
    used_again() { signal.open(1); }

    model::parking_world world;
    core signal;
    model::atomic<bool> again{false};

    void wait_for_a_while() {
        bool in_time = false;
        model::check(signal.wait_until(2, in_time) == sync::signal_error::none,
                     "it is the only waiter");
    }
    void notify_and_wait() {
        while (!signal.has_waiter()) model::machine::pause();
        model::check(signal.notify() == sync::signal_error::none, "the first notification");
        model::check(signal.add(1) == sync::signal_error::none, "one more");
        again.store(true, release); // pairs with await_again
        model::check(signal.wait() == sync::signal_error::none, "the first wait is over");
    }
    void notify_again() {
        await_again();
        model::check(signal.notify() == sync::signal_error::none, "the second notification");
    }
    void time_passes() {
        await_again();
        world.time_passes();
    }
    void await_again() {
        while (!again.load(acquire)) model::machine::pause(); // pairs with notify_and_wait
    }
};

// Two that wait at once, which is a mistake: one of them is told so, and the other one goes on.
TEST(signal, a_second_waiter_is_told_so) {
    std::array<int, 2> refused{};
    model::result const r =
        model::explore("signal_two_waiters", random(60000), [&](model::test& t) {
            auto& p = t.make<parent>(1);
            auto& told = t.make<model::atomic<int>>(0);
            for (std::size_t k = 0; k < 2; ++k)
                t.thread([&, k] {
                    bool in_time = true;
                    auto const e = k == 0 ? p.signal->wait() : p.signal->wait_until(2, in_time);
                    bool const is_refused = e == sync::signal_error::second_waiter;
                    refused[k] += is_refused;
                    model::check(told.fetch_add(is_refused, relaxed) == 0 || !is_refused,
                                 "one of them waits");
                    model::check(is_refused || !in_time || p.parts[0].load() == 1,
                                 "who goes on has been notified");
                });
            t.thread([&p] { p.report(0); });
            t.thread([&p] { p.world.time_passes(); });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(refused[0], 100);
    EXPECT_GT(refused[1], 100);
}

TEST(signal, a_late_timer_ends_nobody_elses_wait) {
    model::result const r = model::explore("signal_used_again", random(60000), [](model::test& t) {
        auto& s = t.make<used_again>();
        t.thread([&s] { s.wait_for_a_while(); });
        t.thread([&s] { s.notify_and_wait(); });
        t.thread([&s] { s.notify_again(); });
        t.thread([&s] { s.time_passes(); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

} // namespace

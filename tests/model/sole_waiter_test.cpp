// SPDX-License-Identifier: Apache-2.0
//
// A limited wait without a lock: the waker, the timer and the canceller race, also while the limit
// is still being started, and none of them touches the waiter's frame once the wait is over.
#include "sync_world.hpp"
#include "wait/sole_waiter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking_elsewhere;
using handle = parking::handle;

struct meeting {
    model::parking_world world;
    model::cancellation token;
    model::atomic<handle> word{nullptr}; // who waits
    model::atomic<bool> is_done{false};
    model::plain<int> result{0};
    bool ended = false; // by the limit

    struct entry {
        meeting& of;
        model::plain<int> uses{0};

        explicit entry(meeting& m) noexcept : of(m) {}
        [[nodiscard]] bool enter(handle thread) {
            uses.store(uses.load() + 1);
            of.word.store(thread, seq_cst);
            if (!of.is_done.load(seq_cst)) return true;
            // The waker has taken it, and resumes it.
            return of.word.exchange(nullptr, acq_rel) == nullptr;
        }
        [[nodiscard]] bool withdraw(handle thread) {
            static_cast<void>(uses.load());
            return of.word.compare_exchange_strong(thread, nullptr, acq_rel, relaxed);
        }
    };

    // Here rather than on the stack, so that who comes late finds what is left of it.
    struct frame {
        entry way;
        wait::sole_waiter<parking, entry> self;

        frame(meeting& m, wait::limit<parking> until) noexcept : way(m), self(way, until) {}
    };
    std::optional<frame> waiter;

    void wait(wait::limit<parking> until) {
        frame& mine = waiter.emplace(*this, until);
        ended = !mine.self.wait({});
        mine.way.uses.store(0); // who still is at it meets this write
        waiter.reset();
        if (!ended) model::check(result.load() == 7, "what the waker did is there");
    }
    void wake() {
        result.store(7);
        is_done.store(true, seq_cst);
        if (handle const waiting = word.exchange(nullptr, seq_cst)) parking::resume(waiting);
    }
};

struct ends {
    int by_waker = 0;
    int by_limit = 0;
};

struct shape {
    bool timed = false;
    bool cancelled = false;
    bool woken = true;
};

model::test_body body(shape s, ends* seen = nullptr) {
    return [=](model::test& t) {
        auto& m = t.make<meeting>();
        t.thread([&m, s] {
            m.wait({s.timed ? 2 : detail::k_no_deadline, s.cancelled ? &m.token : nullptr});
            m.world.end_suspending();
        });
        t.thread([&m] { m.world.run_posts(1); });
        if (s.woken) t.thread([&m] { m.wake(); });
        if (s.timed) t.thread([&m] { m.world.time_passes(); });
        if (s.cancelled) t.thread([&m] { m.token.request(); });
        t.at_end([=, &m] {
            model::check(m.word.load(relaxed) == nullptr, "nobody is said to wait");
            if (seen != nullptr) ++(m.ended ? seen->by_limit : seen->by_waker);
        });
    };
}

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(sole_waiter, is_woken_while_its_limit_starts) {
    ends seen;
    model::result const r =
        model::explore("sole_woken", random(20000), body({.cancelled = true}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.by_waker), r.executions / 40);
    EXPECT_GT(static_cast<std::size_t>(seen.by_limit), r.executions / 40);
}

TEST(sole_waiter, is_cancelled_while_its_limit_starts) {
    model::result const r =
        model::explore("sole_cancelled", random(10000), body({.cancelled = true, .woken = false}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(sole_waiter, all_ends_race) {
    ends seen;
    model::result const r =
        model::explore("sole_all", random(30000), body({.timed = true, .cancelled = true}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.by_waker), r.executions / 40);
    EXPECT_GT(static_cast<std::size_t>(seen.by_limit), r.executions / 40);
}

TEST(sole_waiter, every_order_is_needed) {
    model::options o = random(20000);
    o.weakens = [](model::site const& s) { return s.file == "sole_waiter.hpp"; };
    auto const mutants =
        model::weaken_each("sole_weakened", o, body({.timed = true, .cancelled = true}));
    EXPECT_EQ(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

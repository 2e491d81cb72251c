// SPDX-License-Identifier: Apache-2.0
//
// The timer queue: a timer fires once or is removed, never after remove() has returned; the next deadline is never later than a timer of which
// nobody has been told.
#include "base/sanitize.hpp"
#include "explorer/explore.hpp"
#include "wait/timer_queue.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace tulle;
using enum std::memory_order;

struct tiny {
    static constexpr unsigned slot_bits = 2;
    static constexpr unsigned step_bits = 1;
    static constexpr unsigned levels = 4;
    static constexpr unsigned first_early_level = 3;
    static constexpr unsigned shards = 2;
    static constexpr unsigned batches = 2;
    static constexpr unsigned batch = 2;
    static constexpr unsigned rounds = 3;
};
using queue_type = wait::basic_timer_queue<model::machine, tiny>;
using timer_type = queue_type::timer_type;

// Its frame is the waiter's: nobody else touches it once the wait is over.
struct waiting : timer_type {
    model::plain<int> frame{0};
    model::atomic<int> firings{0};

    explicit waiting(std::uint64_t when = 0) {
        deadline = when;
        fire = [](timer_type& t) noexcept {
            auto& self = static_cast<waiting&>(t);
            self.frame.store(1);
            self.firings.fetch_add(1, relaxed);
        };
    }
    void end_wait(queue_type& q) {
        q.remove(*this);
        frame.store(2);
    }
    void check_fired(int least) const {
        int const times = firings.load(relaxed);
        model::check(times >= least && times <= 1, "a timer fires once, unless it is removed");
    }
};

model::options bounded(std::size_t executions) {
    model::options o;
    o.executions = base::k_thread_sanitizer ? executions / 10 : executions;
    return o;
}

// --- firing and removing ------------------------------------------------------------------------------------------------------------------

struct firing_world {
    queue_type queue;
    std::array<waiting, 3> timers{waiting(1), waiting(2), waiting(7)};

    void insert(std::size_t k, unsigned from) { static_cast<void>(queue.insert(timers[k], from)); }
};

model::test_body one_removes(unsigned of_others, int* fired = nullptr) {
    return [=](model::test& t) {
        auto& w = t.make<firing_world>();
        t.thread([&w] {
            w.insert(0, 0);
            w.insert(1, 0);
            w.timers[0].end_wait(w.queue);
            w.timers[1].end_wait(w.queue);
        });
        t.thread([&w, of_others] {
            w.insert(2, of_others);
            static_cast<void>(w.queue.expire(3, 1));
        });
        t.thread([&w] { static_cast<void>(w.queue.expire(9, 0)); });
        t.at_end([&w, fired] {
            while (w.queue.next_deadline() <= 9) static_cast<void>(w.queue.expire(9));
            for (std::size_t k = 0; k < 3; ++k) w.timers[k].check_fired(k == 2 ? 1 : 0);
            model::check(w.queue.next_deadline() == wait::k_never, "nothing is left");
            if (fired != nullptr) *fired += w.timers[0].firings.load(relaxed);
        });
    };
}

TEST(timer_queue, fires_once_or_is_removed) {
    for (unsigned const shard : {0U, 1U}) {
        int fired = 0;
        model::result const r = model::explore("timers_removed", bounded(30000), one_removes(shard, &fired));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_GT(fired, 0) << "some fire before they are removed";
    }
}

// --- the next deadline --------------------------------------------------------------------------------------------------------------------

// A sleeper reads the next deadline and sleeps until then; who inserts an earlier one tells it.
struct sleeping_world {
    sleeping_world() { static_cast<void>(queue.insert(first, 1)); }

    queue_type queue;
    waiting first{1};
    waiting later{6};
    model::atomic<int> sleeps{0};
    model::atomic<int> told{0};
    model::plain<std::uint64_t> until{0};

    void insert_later() {
        if (!queue.insert(later, 0)) return;
        model::machine::fence_seq_cst();
        if (sleeps.load(relaxed) != 0) told.store(1, relaxed);
    }
    void sleep() {
        sleeps.store(1, relaxed);
        model::machine::fence_seq_cst();
        until.store(queue.next_deadline());
    }
    void check_sleep() { model::check(until.load() <= later.deadline || told.load(relaxed) == 1, "the sleeper sleeps past a timer"); }
};

// The first timer goes, by its owner or because it is due.
model::test_body first_goes(bool is_due, int* slept = nullptr) {
    return [=](model::test& t) {
        auto& w = t.make<sleeping_world>();
        t.thread([&w] { w.insert_later(); });
        t.thread([&w, is_due] {
            if (is_due)
                static_cast<void>(w.queue.expire(2, 1));
            else
                w.first.end_wait(w.queue);
        });
        t.thread([&w] { w.sleep(); });
        t.at_end([&w, slept] {
            w.check_sleep();
            if (slept != nullptr && w.until.load() == w.later.deadline) ++*slept;
            w.later.end_wait(w.queue);
        });
    };
}

TEST(timer_queue, nobody_sleeps_past_a_timer) {
    for (bool const is_due : {false, true}) {
        int slept = 0;
        model::result const r = model::explore("timers_next", bounded(60000), first_goes(is_due, &slept));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_GT(slept, 0) << "some sleep until the second timer";
    }
}

TEST(timer_queue, every_order_is_needed) {
    model::options const o = bounded(6000);
    auto const mutants = model::weaken_each("timers_weakened", o, one_removes(0));
    auto const next = model::weaken_each("timers_next_weakened", o, first_goes(false));
    EXPECT_GE(mutants.size() + next.size(), 4U);
    EXPECT_EQ(model::survivors(model::found_by_any(mutants, next)), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Cancellation against wake-up, time-out and the end of the waiter's frame, in each way in which
// primitives wait: one by one (mutex, condition), all at once (latch), with an arrival to be taken
// back (barrier), without a lock (signal).
#include "sync/barrier_core.hpp"
#include "sync/condition_core.hpp"
#include "sync/latch_core.hpp"
#include "sync/mutex_core.hpp"
#include "sync/signal_core.hpp"
#include "sync_world.hpp"
#include "wait/cancellation_core.hpp"
#include "wait/limit_wait.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using enum std::memory_order;
using parking = model::parking;
using limit = wait::limit<parking>;

model::options random(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

struct results {
    model::atomic<int> done{0};
    model::atomic<int> ended{0};

    void count(bool in_time) { (in_time ? done : ended).fetch_add(1, relaxed); }
};

struct seen {
    int done = 0;
    int ended = 0;
};

struct world {
    model::parking_world clock;
    model::cancellation token;
    results r;

    [[nodiscard]] limit until_cancelled() { return {detail::k_no_deadline, &token}; }
    [[nodiscard]] limit until_either() { return {2, &token}; }
    void note(seen* all) {
        if (all == nullptr) return;
        all->done += r.done.load(relaxed);
        all->ended += r.ended.load(relaxed);
    }
};

// Both ends of the race occur, and often.
void expect_both(model::result const& r, seen const& all) {
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(all.done), r.executions / 60);
    EXPECT_GT(static_cast<std::size_t>(all.ended), r.executions / 60);
}

// -- latch

struct gate : world {
    gate() { latch.open(1); }

    sync::latch_core<parking> latch;
    model::plain<int> before;

    void arrive() {
        before.store(1);
        latch.count_down(1);
    }
    void pass(limit until) {
        bool const passed = latch.wait_until(until);
        if (passed) model::check(before.load() == 1, "what was done before is there");
        r.count(passed);
    }
};

model::test_body cancelled_latch(seen* all, bool also_timed) {
    return [=](model::test& t) {
        auto& g = t.make<gate>();
        t.thread([&g] { g.arrive(); });
        t.thread([&g, also_timed] { g.pass(also_timed ? g.until_either() : g.until_cancelled()); });
        t.thread([&g] { g.pass(g.until_cancelled()); });
        t.thread([&g] { g.token.request(); });
        if (also_timed) t.thread([&g] { g.clock.time_passes(); });
        t.at_end([=, &g] { g.note(all); });
    };
}

TEST(cancellation, races_with_all_being_woken) {
    seen all;
    model::result const r =
        model::explore("cancelled_latch", random(40000), cancelled_latch(&all, false));
    expect_both(r, all);
}

TEST(cancellation, races_with_a_time_out_and_a_wake_up) {
    seen all;
    model::result const r =
        model::explore("cancelled_timed_latch", random(40000), cancelled_latch(&all, true));
    expect_both(r, all);
}

TEST(cancellation, of_one_waiter_exhaustively) {
    model::options const o = model::without_heavy_fence(model::exhaustive(2, 300000));
    seen all;
    model::result const r = model::explore("cancelled_one", o, [&all](model::test& t) {
        auto& g = t.make<gate>();
        t.thread([&g] { g.arrive(); });
        t.thread([&g] { g.pass(g.until_cancelled()); });
        t.thread([&g] { g.token.request(); });
        t.at_end([&g, &all] { g.note(&all); });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    EXPECT_GT(all.done, 100);
    EXPECT_GT(all.ended, 100);
}

// A request made before the wait begins, too.
TEST(cancellation, of_a_wait_that_nothing_else_ends) {
    model::options const o = model::without_heavy_fence(model::exhaustive(3, 100000));
    seen all;
    model::result const r = model::explore("cancelled_alone", o, [&all](model::test& t) {
        auto& g = t.make<gate>();
        t.thread([&g] { g.pass(g.until_cancelled()); });
        t.thread([&g] { g.token.request(); });
        t.at_end([&g, &all] {
            model::check(g.r.ended.load(relaxed) == 1, "the request ends the wait");
            g.note(&all);
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    EXPECT_GT(all.ended, 100);
}

// One whose waits are ended for news, again and again: whichever wait is ended by whichever
// request, no news is missed.
struct noticed : world {
    model::atomic<unsigned> news{0}; // bits

    void notice_all() {
        unsigned seen = 0;
        while (seen != 3) {
            model::check(wait::wait_for_limit<parking>({}, until_cancelled()) ==
                             wait::outcome::cancelled,
                         "nothing else ends it");
            token.renew();
            seen |= news.load(relaxed);
        }
    }
    void tell(unsigned bit) {
        news.fetch_or(bit, relaxed);
        token.request();
    }
};

TEST(cancellation, is_noticed_as_often_as_it_is_renewed) {
    auto const body = [](model::test& t) {
        auto& w = t.make<noticed>();
        t.thread([&w] { w.notice_all(); });
        t.thread([&w] { w.tell(1); });
        t.thread([&w] { w.tell(2); });
    };
    model::result const r =
        model::explore("renewed", model::without_heavy_fence(model::exhaustive(3, 200000)), body);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(cancellation, every_order_is_needed) {
    struct told : world {
        model::plain<int> news;
    };
    auto mutants = model::weaken_each("cancellation_weakened", random(20000), [](model::test& t) {
        auto& w = t.make<told>();
        t.thread([&w] {
            w.news.store(1);
            w.token.request();
        });
        t.thread([&w] {
            if (w.token.is_requested())
                model::check(w.news.load() == 1, "what happened before the request is there");
        });
        t.thread([&w] {
            model::check(wait::wait_for_limit<parking>({}, w.until_cancelled()) ==
                             wait::outcome::cancelled,
                         "nothing else ends it");
            model::check(w.news.load() == 1, "what happened before the request is there");
        });
    });
    // Others elsewhere.
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "cancellation_core.hpp";
    });
    EXPECT_GE(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

// -- barrier: a thread that is cancelled has not arrived

struct meeting : world {
    meeting() { barrier.open(2); }

    sync::barrier_core<parking> barrier;

    void meet() { barrier.arrive_and_wait(); }
    void meet_unless_cancelled() {
        bool const met = barrier.arrive_and_wait_until(until_cancelled());
        r.count(met);
        if (!met) barrier.arrive_and_wait();
    }
};

TEST(cancellation, takes_an_arrival_back) {
    seen all;
    model::result const r =
        model::explore("cancelled_barrier", random(40000), [&all](model::test& t) {
            auto& m = t.make<meeting>();
            t.thread([&m] { m.meet(); });
            t.thread([&m] { m.meet_unless_cancelled(); });
            t.thread([&m] { m.token.request(); });
            t.at_end([&m, &all] { m.note(&all); });
        });
    expect_both(r, all);
}

// -- mutex: nobody gets lost behind the one who leaves

struct guarded : world {
    guarded() {
        front.free.store(1, relaxed);
        queue.inherited.store(true, relaxed);
    }

    detail::basic_mutex_front<model::machine> front;
    sync::mutex_queue<parking> queue;
    model::plain<int> value;

    sync::mutex_core<parking> core() { return {front, queue}; }
    void add() {
        if (!front.try_lock() && !core().take_over()) core().lock();
        model::machine::pause();
        leave();
    }
    void add_unless_cancelled() {
        bool const locked =
            front.try_lock() || core().take_over() || core().lock_until(until_cancelled());
        r.count(locked);
        if (locked) leave();
    }
    void leave() {
        value.store(value.load() + 1);
        auto const how_far = front.try_unlock();
        if (how_far != detail::unlock_result::done) core().unlock(how_far);
    }
};

TEST(cancellation, in_the_queue_of_a_mutex) {
    model::options o = random(40000);
    o.limit.has_heavy_fence = true;
    seen all;
    model::result const r = model::explore("cancelled_mutex", o, [&all](model::test& t) {
        auto& g = t.make<guarded>();
        for (int k = 0; k < 2; ++k) t.thread([&g] { g.add(); });
        for (int k = 0; k < 2; ++k) t.thread([&g] { g.add_unless_cancelled(); });
        t.thread([&g] { g.token.request(); });
        t.at_end([&g, &all] {
            model::check(g.value.load() == 2 + g.r.done.load(relaxed), "each round counts once");
            model::check(g.queue.waiting.empty() && g.queue.on_its_way == nullptr,
                         "nobody is left in the queue");
            g.note(&all);
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(all.ended), r.executions / 250);
}

// -- condition: a notification is not lost in one who leaves

struct mailbox : world {
    base::basic_spin_lock<model::machine> mutex;
    sync::condition_core<parking> filled;
    model::plain<int> items{0};
    int taken = 0; // guarded by the mutex

    void put() {
        mutex.lock();
        items.store(items.load() + 1);
        mutex.unlock();
        filled.notify_one();
    }
    void take(bool cancellable) {
        mutex.lock();
        bool notified = true;
        while (items.load() == 0 && notified) {
            auto const unlock = [this] { mutex.unlock(); };
            if (cancellable)
                notified = filled.wait_until(until_cancelled(), unlock);
            else
                filled.wait(unlock);
            mutex.lock();
        }
        bool const got = items.load() != 0;
        if (got) items.store(items.load() - 1);
        taken += got ? 1 : 0;
        if (cancellable) r.count(got);
        mutex.unlock();
    }
};

TEST(cancellation, takes_no_notification) {
    seen all;
    model::result const r =
        model::explore("cancelled_condition", random(60000), [&all](model::test& t) {
            auto& m = t.make<mailbox>();
            for (int k = 0; k < 2; ++k) t.thread([&m] { m.put(); });
            t.thread([&m] { m.take(false); });
            t.thread([&m] { m.take(true); });
            t.thread([&m] { m.token.request(); });
            t.at_end([&m, &all] {
                model::check(m.taken + m.items.load() == 2, "an item is taken or left");
                m.note(&all);
            });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(all.ended), r.executions / 130);
}

// -- signal

struct news : world {
    news() { signal.open(1); }

    sync::signal_core<parking> signal;

    void wait() {
        bool in_time = false;
        model::check(signal.wait_until(until_either(), in_time) == sync::signal_error::none,
                     "one waiter");
        r.count(in_time);
    }
};

TEST(cancellation, of_a_wait_without_a_lock) {
    seen all;
    model::result const r =
        model::explore("cancelled_signal", random(40000), [&all](model::test& t) {
            auto& n = t.make<news>();
            t.thread([&n] { n.wait(); });
            t.thread([&n] {
                model::check(n.signal.notify() == sync::signal_error::none, "one notification");
            });
            t.thread([&n] { n.token.request(); });
            t.thread([&n] { n.clock.time_passes(); });
            t.at_end([&n, &all] { n.note(&all); });
        });
    expect_both(r, all);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The asymmetric mutex: no two holders, no lost wake-up (it would show as a deadlock), with
// hand-off, time-outs, and without heavy fences.
#include "sync/mutex_core.hpp"
#include "sync_world.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using enum std::memory_order;

template <class Parking> struct mutex {
    detail::basic_mutex_front<model::machine> front;
    sync::mutex_queue<Parking> queue;

    sync::mutex_core<Parking> core() { return {front, queue}; }
    void lock() {
        if (!front.try_lock() && !core().take_over()) core().lock();
    }
    bool lock_until(std::uint64_t deadline) {
        return front.try_lock() || core().take_over() || core().lock_until(deadline);
    }
    [[nodiscard]] bool is_free() {
        return front.free.load(relaxed) != 0 || !queue.inherited.load(relaxed);
    }
    // As after the first lock and unlock.
    void use_once() {
        front.free.store(1, relaxed);
        queue.inherited.store(true, relaxed);
    }
    void unlock() {
        auto const how_far = front.try_unlock();
        if (how_far != detail::unlock_result::done) core().unlock(how_far);
    }
};

template <class Parking> struct guarded {
    model::parking_world world;
    mutex<Parking> lock;
    model::plain<int> value{0};
    model::atomic<int> refused{0};

    void add(bool slowly) {
        lock.lock();
        if (slowly) model::machine::pause();
        value.store(value.load() + 1);
        lock.unlock();
    }
    void add_in_time() {
        if (!lock.lock_until(2)) {
            refused.fetch_add(1, relaxed);
            return;
        }
        value.store(value.load() + 1);
        lock.unlock();
    }
};

struct shape {
    int threads = 2;
    int rounds = 1;
    int timed = 0;       // threads that lock with a time-out, once
    bool is_new = false; // nobody has locked it before
};

struct counts {
    int parks = 0;
    int refused = 0;
};

template <class Parking = model::parking> model::test_body body(shape s, counts* seen = nullptr) {
    return [=](model::test& t) {
        auto& g = t.make<guarded<Parking>>();
        if (!s.is_new) g.lock.use_once();
        for (int i = 0; i < s.threads; ++i) {
            t.thread([&g, s] {
                for (int k = 0; k < s.rounds; ++k) g.add(s.timed > 0);
            });
        }
        for (int i = 0; i < s.timed; ++i) t.thread([&g] { g.add_in_time(); });
        if (s.timed > 0) t.thread([&g] { g.world.time_passes(); });
        if (s.timed > 0) t.thread([&g] { g.world.time_passes(); });
        t.at_end([=, &g] {
            int const refused = g.refused.load(relaxed);
            model::check(g.value.load() + refused == s.threads * s.rounds + s.timed,
                         "each round counts once");
            model::check(g.lock.is_free(), "it is free in the end");
            model::check(g.lock.queue.waiting.empty() && g.lock.queue.on_its_way == nullptr,
                         "nobody is left in the queue");
            if (seen == nullptr) return;
            seen->parks += g.world.parks;
            seen->refused += refused;
        });
    };
}

model::options exhaustive(unsigned preemptions) { return model::exhaustive(preemptions, 150000); }

using model::random;

TEST(mutex, two_threads) {
    counts seen;
    model::result const r = model::explore("mutex_two", exhaustive(2), body({.threads = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.parks, 50); // or nothing was tested
}

TEST(mutex, three_threads_two_rounds) {
    counts seen;
    model::result const r =
        model::explore("mutex_three", random(40000), body({.threads = 3, .rounds = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(seen.parks, 1000);
}

TEST(mutex, stampede) {
    model::result const r = model::explore("mutex_stampede", random(20000), body({.threads = 5}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(mutex, time_outs) {
    counts seen;
    model::result const r = model::explore("mutex_timed", random(40000),
                                           body({.threads = 2, .rounds = 1, .timed = 2}, &seen));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(static_cast<std::size_t>(seen.refused), r.executions / 400);
}

TEST(mutex, without_heavy_fences) {
    model::result const r = model::explore("mutex_light", model::without_heavy_fence(random(40000)),
                                           body({.threads = 3, .rounds = 2}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(mutex, time_outs_without_heavy_fences) {
    model::options const o = model::without_heavy_fence(random(20000));
    model::result const r =
        model::explore("mutex_light_timed", o, body({.threads = 2, .rounds = 1, .timed = 2}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(mutex, every_order_is_needed) {
    auto const mutants =
        model::weaken_each("mutex_weakened", random(40000), body({.threads = 3, .rounds = 2}));
    EXPECT_GE(mutants.size(), 3U);
    EXPECT_EQ(model::survivors_in_code(mutants), "");
}

TEST(mutex, the_first_lock) {
    model::result const r =
        model::explore("mutex_new", exhaustive(2), body({.threads = 2, .is_new = true}));
    EXPECT_TRUE(r.passed()) << r;
    model::result const three = model::explore("mutex_new_three", random(10000),
                                               body({.threads = 3, .rounds = 2, .is_new = true}));
    EXPECT_TRUE(three.passed()) << three;
    model::options const without = model::without_heavy_fence(random(10000));
    model::result const light = model::explore("mutex_new_light", without,
                                               body({.threads = 3, .rounds = 2, .is_new = true}));
    EXPECT_TRUE(light.passed()) << light;
    model::result const timed =
        model::explore("mutex_new_timed", random(10000),
                       body({.threads = 1, .rounds = 1, .timed = 2, .is_new = true}));
    EXPECT_TRUE(timed.passed()) << timed;
}

// In a deterministic run no lock and no unlock of its worker is quick; here OS threads of the
// program's own take part.
using cold_parking = model::basic_parking<true>;

TEST(mutex, cold_locks) {
    model::result const r = model::explore("mutex_cold", exhaustive(2),
                                           body<cold_parking>({.threads = 2, .is_new = true}));
    EXPECT_TRUE(r.passed()) << r;
    auto const timed = body<cold_parking>({.threads = 2, .rounds = 1, .timed = 2, .is_new = true});
    model::result const t = model::explore("mutex_cold_timed", random(10000), timed);
    EXPECT_TRUE(t.passed()) << t;
}

TEST(mutex, orders_of_cold_locks_are_needed) {
    auto mutants =
        model::weaken_each("mutex_cold_weakened", random(10000),
                           body<cold_parking>({.threads = 2, .rounds = 3, .is_new = true}));
    // Those of quick ones have been weakened above.
    std::erase_if(mutants, [](model::mutant const& m) {
        return m.change.where.file != "mutex_core.hpp" ||
               m.change.where.kind == model::access_kind::heavy_fence;
    });
    EXPECT_EQ(mutants.size(), 3U);
    EXPECT_EQ(model::survivors(mutants), "");
}

// A waiter that was woken and gives up wakes the next one. The test runs one order of things, which
// hardly occurs by chance:
//   A holds, W waits with a token | A wakes W, and requests | B takes the mutex before W does | X
//   queues, and W finds the mutex held | B unlocks and wakes nobody, since W is on its way | W
//   gives up: only it can wake X
struct directed {
    enum thread : model::thread_index { a = 1, w, b, x };
    model::parking_world world;
    // What has happened so far.
    model::atomic<bool> a_holds{false}, a_has_left{false}, b_holds{false}, w_has_lost{false},
        b_has_left{false};
    model::cancellation token;
    bool w_gave_up = false;

    // Pairs with await.
    static void reach(model::atomic<bool>& event) { event.store(true, release); }
    static void await(model::atomic<bool> const& event) {
        while (!event.load(acquire)) model::machine::pause(); // pairs with reach
    }
    void await_queued(int threads) const {
        while (world.parks < threads) model::machine::pause();
    }
    static directed& current() { return *s_current; }
    directed() { s_current = this; }

private:
    static inline directed* s_current = nullptr;
};

struct directed_parking : model::parking {
    static constexpr std::uint64_t k_longest_wait_ns = 1000; // nobody hands off

    static void suspend(void (*post)(void*, void*), void* first, void* second) noexcept {
        model::parking::suspend(post, first, second);
        if (model::execution::current().running() == directed::w)
            directed::await(directed::current().b_holds);
    }
    // A thread asks this that has just found the mutex held.
    [[nodiscard]] static bool has_ready_threads() noexcept {
        directed& d = directed::current();
        if (model::execution::current().running() != directed::w || !d.b_holds.load(acquire))
            return false;
        directed::reach(d.w_has_lost);
        directed::await(d.b_has_left);
        return true;
    }
};

// As mutex_core::lock_until, but that it forgets the others when it gives up.
bool lock_carelessly(mutex<directed_parking>& m, wait::limit<directed_parking> until) {
    wait::timed_waiter<directed_parking> self(until);
    auto const enter = [&] {
        m.front.contended.store(1, relaxed);
        m.queue.settled = true;
        model::machine::heavy_fence();
        m.queue.waiting.push_back(self);
        return true;
    };
    bool const woken =
        wait::park_until<directed_parking>({}, self, m.queue.lock, m.queue.waiting, enter, [] {});
    model::check(woken && !m.front.try_lock_if_free() && directed_parking::has_ready_threads(),
                 "the mutex is held");
    std::lock_guard const held(m.queue.lock);
    m.queue.on_its_way = nullptr;
    return false;
}

struct directed_mutex : directed {
    mutex<directed_parking> m;

    void run_a() {
        m.lock();
        reach(a_holds);
        await_queued(1);
        m.unlock();
        token.request();
        reach(a_has_left);
    }
    void run_w(bool carelessly) {
        await(a_holds);
        wait::limit<directed_parking> const until{detail::k_no_deadline, &token};
        w_gave_up = carelessly ? !lock_carelessly(m, until) : !m.core().lock_until(until);
    }
    void run_b() {
        await(a_has_left);
        m.lock();
        reach(b_holds);
        await_queued(2);
        await(w_has_lost);
        m.unlock();
        reach(b_has_left);
    }
    void run_x() {
        await(b_holds);
        m.lock();
        m.unlock();
    }
};

model::test_body giving_up(bool carelessly) {
    return [carelessly](model::test& t) {
        auto& d = t.make<directed_mutex>();
        d.m.use_once();
        t.thread([&d] { d.run_a(); });
        t.thread([&d, carelessly] { d.run_w(carelessly); });
        t.thread([&d] { d.run_b(); });
        t.thread([&d] { d.run_x(); });
        t.at_end([&d] {
            model::check(d.w_gave_up, "it gives up");
            model::check(d.m.queue.waiting.empty() && d.m.queue.on_its_way == nullptr,
                         "nobody is left in the queue");
        });
    };
}

TEST(mutex, a_waiter_that_gives_up_after_a_wake_up_wakes_the_next) {
    model::result const r = model::explore("mutex_gives_up", random(2000), giving_up(false));
    EXPECT_TRUE(r.passed()) << r;
    model::options o = random(2000);
    o.expect_failure = true;
    model::result const careless = model::explore("mutex_gives_up_carelessly", o, giving_up(true));
    EXPECT_NE(careless.message.find("deadlock: all threads sleep; thread 4"), std::string::npos)
        << careless;
}

// A limit starts before the queue's lock is released: else the waiter may be woken, and its frame
// be gone, before.
TEST(mutex, wakes_while_a_limit_starts) {
    using parking = model::parking_elsewhere;
    model::result const r = model::explore("mutex_limit_starts", random(10000), [](model::test& t) {
        auto& g = t.make<guarded<parking>>();
        g.lock.use_once();
        g.lock.lock();
        t.thread([&g] {
            auto const is_waited_for = [&g] {
                std::lock_guard const held(g.lock.queue.lock);
                return !g.lock.queue.waiting.empty();
            };
            while (!is_waited_for()) model::machine::pause();
            g.lock.unlock();
        });
        t.thread([&g] {
            g.add_in_time();
            g.world.end_suspending();
        });
        t.thread([&g] { g.world.run_posts(1); });
        t.at_end([&g] { model::check(g.value.load() == 1, "it has locked the mutex"); });
    });
    EXPECT_TRUE(r.passed()) << r;
}

// The error of an unlock that looks for waiters only before it lets go.
struct careless : guarded<model::parking> {
    void add_carelessly() {
        lock.lock();
        value.store(value.load() + 1);
        if (lock.front.contended.load(relaxed) != 0)
            lock.core().unlock(detail::unlock_result::held_contended);
        else
            lock.front.free.store(1, release);
    }
};

TEST(mutex, needs_the_second_check) {
    model::options o = random(20000);
    o.expect_failure = true;
    model::result const r = model::explore("mutex_careless", o, [](model::test& t) {
        auto& c = t.make<careless>();
        c.lock.use_once();
        for (int i = 0; i < 3; ++i) t.thread([&c] { c.add_carelessly(); });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

} // namespace

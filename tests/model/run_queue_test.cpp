// SPDX-License-Identifier: Apache-2.0
//
// The places where a worker finds work, each beside a worker that goes to sleep: what is put there
// is taken once, whole, and never left lying beside a sleeper. A maker waits for its work to be
// done, as one that computes for ever would; a lost wake-up shows as a deadlock.
#include "base/spin_lock.hpp"
#include "compat/myth/take_from_all.hpp"
#include "explorer/explore.hpp"
#include "park/idle_set.hpp"
#include "sched/queues/mailbox.hpp"
#include "sched/queues/ready_queue.hpp"
#include "sched/records/parked_deques.hpp"
#include "sched/records/shown_deque.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

using model::random;

// One worker that sleeps, and makers that wake it.
struct house {
    park::idle_set<machine> idle;
    park::sleeper<machine> sleeper;

    void tell_light() {
        machine::compiler_barrier();
        if (idle.wake_is_due()) idle.wake_one(); // G2
    }
    // What `take` finds. `set_flag` comes before the second check `is_there` (sched/idle.cpp,
    // sleep_until_woken).
    template <class Take, class SetFlag, class Check>
    auto* find(Take take, SetFlag set_flag, Check is_there) {
        idle.begin_search();
        auto* found = take();
        for (; found == nullptr; found = take()) {
            idle.announce(sleeper); // H1
            machine::heavy_fence();
            set_flag(); // B1
            machine::heavy_fence();
            if (is_there()) { // H2, B2
                idle.withdraw(sleeper);
                machine::pause();
            } else {
                idle.sleep(sleeper, model::k_no_deadline);
            }
        }
        static_cast<void>(idle.end_search());
        return found;
    }
    template <class Take, class Look> auto* find(Take take, Look is_there) {
        return find(
            take, [] {}, is_there);
    }
};

struct job {
    model::plain<int> task{0};
    model::plain<int> result{0};
    model::atomic<std::uint32_t> done{0};

    void run() {
        model::check(task.load() == 7, "what its maker did is there");
        result.store(8);
        model::check(done.exchange(1, release) == 0, "it runs once"); // pairs with wait
        machine::futex_wake(done, 1);
    }
    void wait() {
        while (done.load(acquire) == 0) machine::futex_wait(done, 0); // pairs with run
        model::check(result.load() == 8, "what its runner did is there");
    }
};

void expect_needed(std::string_view name, model::test_body const& body,
                   bool (*weakens)(model::site const&)) {
    model::options o = random(4000);
    o.weakens = weakens;
    auto const mutants = model::weaken_each(name, o, body);
    EXPECT_EQ(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

// -- a mailbox

struct mailed : house {
    sched::mailbox<machine, job> box;
    std::array<job, 2> jobs;

    void post() {
        for (job& j : jobs) {
            j.task.store(7);
            box.post(j); // G1
            machine::fence_seq_cst();
            idle.wake(sleeper); // G2
            j.wait();
        }
    }
    void fetch() {
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            find([this] { return box.looks_empty() ? nullptr : box.take(); },
                 [this] { return !box.looks_empty(); })
                ->run();
        }
    }
    static void body(model::test& t) {
        auto& m = t.make<mailed>();
        t.thread([&m] { m.post(); });
        t.thread([&m] { m.fetch(); });
    }
};

TEST(mailbox, each_post_is_fetched) {
    model::result const r = model::explore("mailbox", random(20000), &mailed::body);
    EXPECT_TRUE(r.passed()) << r;
}
TEST(mailbox, every_order_is_needed) {
    expect_needed("mailbox_weakened", &mailed::body,
                  [](model::site const& s) { return s.file == "mailbox.hpp"; });
}

// -- the deque of a stack that a worker comes to while another goes to sleep

using deque_type = deque::split_deque<machine, job>;

void fork_in(house& h, deque_type& deque) {
    job* const j = deque.top();
    j->task.store(7);
    if (!deque.publish(j)) { // A1, A2
        deque.clear_wake_flag();
        h.tell_light();
    }
}

struct shown : house {
    sched::shown_deque<machine, deque_type> visible;
    std::optional<deque_type> deque;
    std::array<job, 3> jobs;

    void come_and_fork() {
        deque.emplace().open(jobs.data(), jobs.size(), true);
        visible.show(&*deque, idle, true);
        fork_in(*this, *deque);
        jobs[0].wait();
    }
    void steal() {
        auto const take = [this] {
            deque_type* const d = visible.get();
            return d == nullptr ? nullptr : deque::deque_thief(*d).steal();
        };
        auto const set_flag = [this] {
            if (deque_type* const d = visible.get()) d->set_wake_flag();
        };
        auto const is_there = [this] {
            deque_type* const d = visible.get();
            return d != nullptr && d->looks_stealable();
        };
        find(take, set_flag, is_there)->run();
    }
    static void body(model::test& t) {
        auto& s = t.make<shown>();
        t.thread([&s] { s.come_and_fork(); });
        t.thread([&s] { s.steal(); });
    }
};

TEST(shown_deque, a_sleeper_hears_of_a_fork_in_it) {
    model::result const r = model::explore("shown", model::exhaustive(2, 200000), &shown::body);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(shown_deque, must_look_for_sleepers) {
    struct blind {
        static bool somebody_sleeps() { return false; }
    };
    model::options o = random(20000);
    o.expect_failure = true;
    model::result const r = model::explore("shown_blind", o, [](model::test& t) {
        auto& s = t.make<shown>();
        t.thread([&s] {
            s.deque.emplace().open(s.jobs.data(), s.jobs.size(), true);
            s.visible.show(&*s.deque, blind{}, true);
            fork_in(s, *s.deque);
            s.jobs[0].wait();
        });
        t.thread([&s] { s.steal(); });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

TEST(shown_deque, every_order_is_needed) {
    expect_needed("shown_weakened", &shown::body,
                  [](model::site const& s) { return s.file == "shown_deque.hpp"; });
}

// -- a ready queue: the orders are those of its lock (deque_test.cpp), its own are hints

struct thread : sched::runnable, job {
    thread() : runnable(sched::runnable_kind::thread) {}
};

struct queued : house {
    sched::basic_ready_queue<machine> ready{true};
    std::array<thread, 3> threads;
    model::atomic<int> ran{0};

    static thread* as_thread(sched::runnable* r) { return static_cast<thread*>(r); }
    void make(thread& t) {
        t.task.store(7);
        ready.push_back(t);
        tell_light();
    }
    // The first is done by the other; of the rest each does what it gets.
    void own() {
        make(threads[0]);
        threads[0].wait();
        make(threads[1]);
        make(threads[2]);
        while (thread* const t = as_thread(ready.pop())) run(*t);
    }
    void run(thread& t) {
        t.run();
        ran.fetch_add(1, relaxed);
    }
    void run_all(sched::runnable_list& taken) {
        while (thread* const t = as_thread(taken.pop_front())) run(*t);
    }
    void steal() {
        std::uint32_t seen = 0;
        sched::runnable_list taken;
        auto const take = [&] {
            taken = ready.steal(seen, 0);
            return taken.first();
        };
        static_cast<void>(find(take, [this] { return ready.has_stealable(); }));
        run_all(taken);
        taken = ready.steal(seen, 0); // perhaps
        run_all(taken);
    }
    static void body(model::test& t) {
        auto& q = t.make<queued>();
        t.thread([&q] { q.own(); });
        t.thread([&q] { q.steal(); });
        t.at_end([&q] { model::check(q.ran.load(relaxed) == 3, "each thread ran"); });
    }
};

TEST(ready_queue, each_thread_runs_once) {
    model::result const r = model::explore("ready", random(40000), &queued::body);
    EXPECT_TRUE(r.passed()) << r;
}

// Who starts a thread at once stands in the queue before its registers are saved: here, its task is
// what they are. It goes on elsewhere, or when that thread ends.
struct switching : queued {
    static constexpr auto k_kind = sched::runnable_kind::thread;

    void start_at_once(thread& self, bool saves_late) {
        ready.begin_push_front(self);
        if (!saves_late) self.task.store(7);
        ready.end_switch();
        if (saves_late) self.task.store(7);
        tell_light();
    }
    void own_switches(bool saves_late) {
        start_at_once(threads[0], saves_late);
        threads[0]
            .wait(); // the thread that was started waits for its spawner: another goes on with it
        start_at_once(threads[1], false);
        start_at_once(threads[2], false);
        while (thread* const t = as_thread(ready.begin_pop(k_kind))) {
            ready.end_switch();
            run(*t);
        }
    }
    template <bool saves_late> static void body(model::test& t) {
        auto& q = t.make<switching>();
        t.thread([&q] { q.own_switches(saves_late); });
        t.thread([&q] { q.steal(); });
        t.at_end([&q] { model::check(q.ran.load(relaxed) == 3, "each thread ran"); });
    }
};

TEST(ready_queue, who_starts_a_thread_at_once_goes_on_once) {
    model::result const r = model::explore("begun", random(40000), &switching::body<false>);
    EXPECT_TRUE(r.passed()) << r;
}

TEST(ready_queue, nobody_goes_on_before_it_is_saved) {
    model::result const r = model::explore("begun_late", random(40000), &switching::body<true>);
    EXPECT_FALSE(r.passed());
}

// -- the list of parked deques: the same

struct parked_deque : deque_type {
    model::plain<parked_deque*> next_parked{nullptr};
    model::plain<parked_deque*> prev_parked{nullptr};
    bool is_parked = false;
};
[[maybe_unused]] bool comes_before(parked_deque const&, parked_deque const&) { return false; }

struct lot : house {
    sched::basic_parked_deques<machine, parked_deque, job> parked;
    std::array<std::array<job, 2>, 2> jobs;
    std::array<parked_deque, 2> deques;

    lot() {
        for (std::size_t k = 0; k < deques.size(); ++k)
            deques[k].open(jobs[k].data(), jobs[k].size(), true);
    }
    // Forks, suspends, goes on when the fork has been run.
    void fork_and_leave(std::size_t k) {
        fork_in(*this, deques[k]);
        parked.add(deques[k]);
        tell_light();
        jobs[k][0].wait();
        deque::deque_owner<machine, job>(deques[k]).settle(&jobs[k][0]);
        parked.remove(deques[k]);
    }
    void steal(std::size_t count) {
        for (; count != 0; --count) {
            parked_deque* from = nullptr;
            find([&] { return parked.steal(from); }, [this] { return parked.has_stealable(); })
                ->run();
        }
    }
    static void body(model::test& t) {
        auto& l = t.make<lot>();
        t.thread([&l] { l.fork_and_leave(0); });
        t.thread([&l] { l.fork_and_leave(1); });
        t.thread([&l] { l.steal(2); });
        t.at_end([&l] { model::check(l.parked.looks_empty(), "no deque is left in the list"); });
    }
};

TEST(parked_deques, what_is_left_behind_is_found) {
    model::result const r = model::explore("parked", random(40000), &lot::body);
    EXPECT_TRUE(r.passed()) << r;
}

// -- tickets for threads in the queues of <myth/myth.h>: the last one that ends leaves none behind

struct ticketed {
    using lock_type = base::basic_spin_lock<machine>;
    static constexpr int k_queues = 3;

    lock_type lock;
    std::array<model::plain<int>, k_queues> queued; // threads; guarded by the lock
    model::atomic<int> begun{0};

    static std::size_t index(int queue) { return static_cast<std::size_t>(queue); }
    void put(int queue) {
        std::lock_guard const held(lock);
        auto& count = queued[index(queue)];
        count.store(count.load() + 1);
    }
    // Something, or null.
    ticketed* take_held(int queue) {
        auto& count = queued[index(queue)];
        if (count.load() == 0) return nullptr;
        count.store(count.load() - 1);
        return this;
    }
    void begin_if(bool is_there) {
        if (is_there) begun.fetch_add(1, relaxed);
    }
    void run_ticket(int own) {
        begin_if(myth::take_from_all(lock, own, 0, k_queues,
                                     [this](int queue) { return take_held(queue); }) != nullptr);
    }
    void run_ticket_that_goes_from_queue_to_queue(int own) {
        for (int const queue : {own, 0, 1, 2}) {
            std::lock_guard const held(lock);
            if (take_held(queue) != nullptr) return begin_if(true);
        }
    }
    // A ticket beside another one, which belongs to a thread that is put behind it.
    template <class Ticket> static void explore_tickets(model::test& t, Ticket run) {
        auto& q = t.make<ticketed>();
        t.thread([&q, run] {
            q.put(1);
            run(q, 2);
        });
        t.thread([&q, run] {
            q.put(0);
            run(q, 1);
        });
        t.at_end([&q] { model::check(q.begun.load(relaxed) == 2, "each thread has begun"); });
    }
};

TEST(tickets, leave_no_thread_behind) {
    model::result const r =
        model::explore("tickets", model::exhaustive(3, 200000), [](model::test& t) {
            ticketed::explore_tickets(t, [](ticketed& q, int own) { q.run_ticket(own); });
        });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(tickets, must_search_all_queues_at_one_moment) {
    model::options o = random(20000);
    o.expect_failure = true;
    model::result const r = model::explore("tickets_in_turn", o, [](model::test& t) {
        ticketed::explore_tickets(
            t, [](ticketed& q, int own) { q.run_ticket_that_goes_from_queue_to_queue(own); });
    });
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("each thread has begun"), std::string::npos) << r;
}

} // namespace

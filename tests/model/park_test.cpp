// SPDX-License-Identifier: Apache-2.0
//
// The event count over workers: no wake-up is lost, whatever the order in which makers of work and workers that go to sleep
// look at each other. A lost one shows as a deadlock, since all that is left then sleeps.
#include "deque/split_deque.hpp"
#include "explorer/explore.hpp"
#include "park/idle_set.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;
using park::sleep_result;

// Tasks in a row, each with a plain payload; makers publish the next, workers take the oldest.
class board {
public:
    static constexpr std::size_t k_most = 4;

    void publish() {
        std::uint32_t const at = m_published.load(relaxed); // one maker only
        m_payload[at].store(static_cast<int>(at) + 1);
        m_published.store(at + 1, release); // G1; pairs with take
    }
    // True: one was taken and done.
    bool take() {
        std::uint32_t at = m_taken.load(relaxed);
        while (at < m_published.load(acquire)) { // pairs with publish
            if (!m_taken.compare_exchange_strong(at, at + 1, relaxed)) continue;
            model::check(m_payload[at].load() == static_cast<int>(at) + 1, "a task arrives whole");
            return true;
        }
        return false;
    }
    [[nodiscard]] bool looks_empty() const { return m_taken.load(relaxed) >= m_published.load(relaxed); }
    [[nodiscard]] std::uint32_t taken() const { return m_taken.load(relaxed); }

private:
    std::array<model::plain<int>, k_most> m_payload;
    model::atomic<std::uint32_t> m_published{0};
    model::atomic<std::uint32_t> m_taken{0};
};

struct shape {
    int tasks;
    int workers;
    std::uint64_t deadline = model::k_no_deadline;
    bool heavy = true;      // false: the error of leaving the heavy fence out
    bool together = false;  // no task ends before all have begun: each worker is needed
    bool hand_over = false; // the maker gives the work to a sleeper by hand where there is one
};

class office {
public:
    explicit office(shape const& s) : m_shape(s) {}

    void make_all() {
        for (int i = 0; i < m_shape.tasks; ++i) {
            if (m_shape.hand_over && hand_to_sleeper(i)) continue;
            m_board.publish();
            machine::compiler_barrier();
            if (m_idle.wake_is_due()) m_idle.wake_one(); // G2
        }
    }
    void work(std::size_t index) {
        m_idle.begin_search();
        while (!m_stop.load(acquire)) { // pairs with finish_task
            if (m_board.take()) {
                if (m_idle.end_search()) pass_search_on();
                if (m_shape.together) meet();
            } else if (!rest(m_sleepers[index])) {
                continue;
            }
            finish_task();
            m_idle.begin_search();
        }
        static_cast<void>(m_idle.end_search());
    }
    void check_end() {
        int const done = static_cast<int>(m_board.taken()) + m_handed.load(relaxed);
        model::check(done == m_shape.tasks, "each task was taken");
        model::check(m_idle.sleeping() == 0, "nobody counts as asleep in the end");
        model::check(m_idle.searching() == 0, "nobody counts as searching in the end");
    }
    [[nodiscard]] int sleeps() const { return m_sleeps.load(relaxed); }
    [[nodiscard]] int timeouts() const { return m_timeouts.load(relaxed); }

private:
    bool hand_to_sleeper(int task) {
        model::plain<int>& gift = m_gifts[static_cast<std::size_t>(task)];
        gift.store(task + 1);
        return m_idle.searching() == 0 && m_idle.hand_over(&gift);
    }
    void meet() {
        std::uint32_t begun = m_begun.fetch_add(1, relaxed) + 1;
        machine::futex_wake(m_begun, 2);
        while (begun != static_cast<std::uint32_t>(m_shape.tasks)) {
            machine::futex_wait(m_begun, begun);
            begun = m_begun.load(relaxed);
        }
    }
    // H2 on behalf of those who sleep.
    void pass_search_on() {
        if (m_shape.heavy) machine::heavy_fence();
        if (!m_board.looks_empty()) m_idle.wake_one();
    }
    // The last task stops everybody.
    void finish_task() {
        if (m_done.fetch_add(1, acq_rel) + 1 != m_shape.tasks) return;
        m_stop.store(true, release); // pairs with work
        machine::fence_seq_cst();
        while (m_idle.wake_one()) {}
    }
    // True: a task has been handed over, and done.
    bool rest(park::sleeper<machine>& self) {
        m_idle.announce(self); // H1
        if (m_shape.heavy) machine::heavy_fence();
        if (!m_board.looks_empty() || m_stop.load(relaxed)) { // H2
            m_idle.withdraw(self);
        } else {
            m_sleeps.fetch_add(1, relaxed);
            if (m_idle.sleep(self, m_shape.deadline) == sleep_result::timed_out) m_timeouts.fetch_add(1, relaxed);
        }
        auto* const gift = static_cast<model::plain<int>*>(m_idle.take_gift(self));
        if (gift == nullptr) return false;
        model::check(gift->load() != 0, "a gift arrives whole");
        m_handed.fetch_add(1, relaxed);
        return true;
    }

    shape m_shape;
    board m_board;
    park::idle_set<machine> m_idle;
    std::array<park::sleeper<machine>, 3> m_sleepers;
    std::array<model::plain<int>, board::k_most> m_gifts;
    model::atomic<int> m_handed{0};
    model::atomic<std::uint32_t> m_begun{0};
    model::atomic<int> m_done{0};
    model::atomic<bool> m_stop{false};
    model::atomic<int> m_sleeps{0};
    model::atomic<int> m_timeouts{0};
};

model::test_body body(shape s, int* sleeps = nullptr, int* timeouts = nullptr) {
    return [=](model::test& t) {
        auto& o = t.make<office>(s);
        t.thread([&o] { o.make_all(); });
        for (int i = 0; i < s.workers; ++i) t.thread([&o, i] { o.work(static_cast<std::size_t>(i)); });
        t.at_end([=, &o] {
            o.check_end();
            if (sleeps != nullptr) *sleeps += o.sleeps();
            if (timeouts != nullptr) *timeouts += o.timeouts();
        });
    };
}

model::options exhaustive(unsigned preemptions) {
    model::options o;
    o.how = model::search::exhaustive;
    o.preemptions = preemptions;
    o.executions = 200000;
    return o;
}

model::options random(std::size_t executions) {
    model::options o;
    o.executions = executions;
    return o;
}

TEST(idle_set, one_task_one_worker) {
    model::result const r = model::explore("idle_one", exhaustive(2), body({.tasks = 1, .workers = 1}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(idle_set, two_tasks_one_worker) {
    model::result const r = model::explore("idle_two", exhaustive(2), body({.tasks = 2, .workers = 1}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, no_wake_up_is_lost) {
    int sleeps = 0;
    model::result const r = model::explore("idle_many", random(60000), body({.tasks = 3, .workers = 2}, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(sleeps, 1000); // or nothing was tested
}

TEST(idle_set, all_workers_are_needed) {
    model::result const r = model::explore("idle_together", random(40000), body({.tasks = 2, .workers = 2, .together = true}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, stampede) {
    model::result const r = model::explore("idle_stampede", random(40000), body({.tasks = 2, .workers = 3}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, time_may_be_up) {
    int timeouts = 0;
    model::options o = random(60000);
    o.limit.early_timeouts = 3;
    shape const s{.tasks = 2, .workers = 2, .deadline = 1000};
    model::result const r = model::explore("idle_deadline", o, body(s, nullptr, &timeouts));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(timeouts, 1000);
}

TEST(idle_set, work_handed_over_is_done_once) {
    model::result const r = model::explore("idle_gift", exhaustive(3), body({.tasks = 1, .workers = 1, .hand_over = true}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(idle_set, work_handed_over_beside_published_work) {
    int sleeps = 0;
    model::options o = random(20000);
    o.limit.early_timeouts = 2;
    shape const s{.tasks = 3, .workers = 2, .deadline = 1000, .hand_over = true};
    model::result const r = model::explore("idle_gifts", o, body(s, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(sleeps, 300);
}

TEST(idle_set, needs_the_heavy_fence) {
    model::options o = exhaustive(2);
    o.expect_failure = true;
    model::result const r = model::explore("idle_unfenced", o, body({.tasks = 1, .workers = 1, .heavy = false}));
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

// One worker with a mailbox; whoever is woken sees what the waker wrote before.
struct desk {
    park::idle_set<machine> idle;
    park::sleeper<machine> sleeper;
    model::atomic<int> mail{0};
    model::plain<int> letter{0};
};

void deliver(desk& d) {
    d.letter.store(1);
    d.mail.store(1, release); // pairs with fetch_mail
    machine::fence_seq_cst();
    d.idle.wake(d.sleeper);
}

void fetch_mail(desk& d) {
    d.idle.begin_search();
    bool woken = false;
    while (!woken && d.mail.load(acquire) == 0) { // pairs with deliver
        d.idle.announce(d.sleeper);
        machine::heavy_fence();
        if (d.mail.load(relaxed) != 0)
            d.idle.withdraw(d.sleeper);
        else
            woken = d.idle.sleep(d.sleeper, model::k_no_deadline) == sleep_result::woken;
    }
    static_cast<void>(d.idle.end_search());
    model::check(d.letter.load() == 1, "the letter is there");
}

TEST(idle_set, wakes_this_very_worker) {
    model::result const r = model::explore("idle_this", exhaustive(3), [](model::test& t) {
        auto& d = t.make<desk>();
        t.thread([&d] { deliver(d); });
        t.thread([&d] { fetch_mail(d); });
        t.at_end([&d] {
            model::check(d.idle.sleeping() == 0, "nobody counts as asleep in the end");
            model::check(d.idle.searching() == 0, "nobody counts as searching in the end");
        });
    });
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// -- a record forked while a worker goes to sleep: the alarm of the deque (A1 A2, B1 B2)

struct slot {
    model::plain<int> task{0};
    model::atomic<std::uint32_t> done{0};
};

struct forking {
    forking() { records.open(slots.data(), slots.size(), true); }

    deque::split_deque<machine, slot> records;
    std::array<slot, 3> slots;
    park::idle_set<machine> idle;
    park::sleeper<machine> sleeper;
};

slot& fork(forking& f, int task) {
    slot* const s = f.records.top();
    s->task.store(task);
    if (f.records.publish(s)) return *s; // A1, A2
    f.records.silence();
    machine::compiler_barrier();
    if (f.idle.wake_is_due()) f.idle.wake_one();
    return *s;
}

void wait_for(slot& s) {
    while (s.done.load(acquire) == 0) machine::futex_wait(s.done, 0); // pairs with run_one
}

// Forks and joins `earlier` records, then forks one more and computes for ever: it never joins it before somebody has run it.
void fork_and_compute(forking& f, int earlier) {
    for (int i = 0; i < earlier; ++i) {
        slot& s = fork(f, i);
        if (f.records.retract(&s) || deque::deque_owner(f.records).reclaim(&s) == deque::reclaim_result::mine) continue;
        return wait_for(s); // the worker has run its one record
    }
    slot& last = fork(f, earlier);
    wait_for(last);
}

slot* steal_or_sleep(forking& f) {
    if (slot* const s = deque::deque_thief(f.records).steal()) return s;
    f.idle.announce(f.sleeper);
    machine::heavy_fence();
    f.records.alarm(); // B1
    machine::heavy_fence();
    if (f.records.looks_stealable())
        f.idle.withdraw(f.sleeper); // B2
    else
        f.idle.sleep(f.sleeper, model::k_no_deadline);
    return nullptr;
}

void run_one(forking& f) {
    f.idle.begin_search();
    slot* s = nullptr;
    while (s == nullptr) s = steal_or_sleep(f);
    static_cast<void>(f.idle.end_search());
    static_cast<void>(s->task.load());
    s->done.store(1, release); // pairs with wait_for
    machine::futex_wake(s->done, 1);
}

model::test_body forking_body(int earlier) {
    return [=](model::test& t) {
        auto& f = t.make<forking>();
        t.thread([&f, earlier] { fork_and_compute(f, earlier); });
        t.thread([&f] { run_one(f); });
    };
}

TEST(alarm, a_forked_record_wakes_the_sleeper) {
    model::result const r = model::explore("alarm_one", exhaustive(2), forking_body(0));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(alarm, a_fork_after_a_joined_one_wakes_the_sleeper) {
    model::result const r = model::explore("alarm_two", exhaustive(2), forking_body(1));
    EXPECT_TRUE(r.passed()) << r;
}

// Work that is handed over, work that needs every worker, and records that are forked. The orders in this file, but for the heavy fences, are
// those of its board of tasks.
TEST(idle_set, every_order_is_needed) {
    model::options o = random(20000);
    o.weakens = [](model::site const& s) { return s.file == "idle_set.hpp" || s.kind == model::access_kind::heavy_fence; };
    auto mutants = model::weaken_each("idle_weakened_gift", o, body({.tasks = 1, .workers = 1, .hand_over = true}));
    auto const together = body({.tasks = 2, .workers = 2, .together = true});
    mutants = model::found_by_any(std::move(mutants), model::weaken_each("idle_weakened", o, together));
    mutants = model::found_by_any(std::move(mutants), model::weaken_each("idle_weakened_fork", o, forking_body(1)));
    EXPECT_GE(mutants.size(), 8U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

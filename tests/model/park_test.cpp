// SPDX-License-Identifier: Apache-2.0
//
// The event count over workers: no wake-up is lost, whatever the order in which makers of work and
// workers that go to sleep look at each other. A lost one shows as a deadlock, since all that is
// left then sleeps. The steps of workers and makers are those that the scheduler takes
// (park/sleep_steps.hpp).
#include "deque/split_deque.hpp"
#include "explorer/explore.hpp"
#include "idle_world.hpp"
#include "park/idle_set.hpp"
#include "park/sleep_steps.hpp"
#include "sched/records/shown_deque.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;
using park::sleep_result;

model::options exhaustive(unsigned preemptions) { return model::exhaustive(preemptions, 200000); }

using model::random;

TEST(idle_set, one_task_one_worker) {
    model::result const r =
        model::explore("idle_one", exhaustive(2), body({.tasks = 1, .workers = 1}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(idle_set, two_tasks_one_worker) {
    model::result const r =
        model::explore("idle_two", exhaustive(2), body({.tasks = 2, .workers = 1}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, no_wake_up_is_lost) {
    int sleeps = 0;
    model::result const r =
        model::explore("idle_many", random(60000), body({.tasks = 3, .workers = 2}, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(sleeps, 1000); // or nothing was tested
}

TEST(idle_set, all_workers_are_needed) {
    model::result const r = model::explore("idle_together", random(40000),
                                           body({.tasks = 2, .workers = 2, .together = true}));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, stampede) {
    model::result const r =
        model::explore("idle_stampede", random(40000), body({.tasks = 2, .workers = 3}));
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
    model::result const r = model::explore("idle_handoff", exhaustive(3),
                                           body({.tasks = 1, .workers = 1, .hand_over = true}));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(idle_set, work_handed_over_beside_published_work) {
    int sleeps = 0;
    model::options o = random(20000);
    o.limit.early_timeouts = 2;
    shape const s{.tasks = 3, .workers = 2, .deadline = 1000, .hand_over = true};
    model::result const r = model::explore("idle_handoffs", o, body(s, &sleeps));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_GT(sleeps, 300);
}

// It counts as searching from then on, since makers that are told so rely on it.
TEST(idle_set, work_handed_over_may_be_refused) {
    model::options o = random(30000);
    o.limit.early_timeouts = 2;
    shape const s{.tasks = 3, .workers = 2, .deadline = 1000, .hand_over = true, .refuses = true};
    model::result const r = model::explore("idle_refused", o, body(s));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(idle_set, a_worker_that_sleeps_elsewhere_is_woken_there) {
    model::result const r = model::explore("idle_elsewhere", exhaustive(2),
                                           body({.tasks = 2, .workers = 1, .elsewhere = true}));
    EXPECT_TRUE(r.passed()) << r;
    int sleeps = 0;
    shape const s{.tasks = 3, .workers = 2, .hand_over = true, .elsewhere = true};
    model::result const many =
        model::explore("idle_elsewhere_many", random(40000), body(s, &sleeps));
    EXPECT_TRUE(many.passed()) << many;
    EXPECT_GT(sleeps, 1000);
}

// Where all others sleep no heavy fence is needed; where one of them is awake, or is woken in
// between, it may make work that relies on the search.
constexpr shape k_relay{.tasks = 2, .workers = 3, .made = 1};
constexpr shape k_fenced{.tasks = 1, .workers = 1, .fenced = true};

TEST(idle_set, work_of_workers_is_told_without_a_heavy_fence_where_all_others_sleep) {
    for (shape const s : {shape{.tasks = 1, .workers = 2, .made = 1},
                          shape{.tasks = 1, .workers = 3, .made = 2}, k_relay}) {
        int sleeps = 0;
        model::result const r = model::explore("idle_relay", random(40000), body(s, &sleeps));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_GT(sleeps, 1000);
    }
}

TEST(idle_set, work_from_outside_is_told_without_a_heavy_fence_where_all_others_sleep) {
    model::result const one = model::explore("idle_fenced_one", exhaustive(3), body(k_fenced));
    EXPECT_TRUE(one.passed()) << one;
    EXPECT_TRUE(one.is_as_complete_as_asked()) << one;
    shape const s{.tasks = 3, .workers = 2, .fenced = true};
    model::result const many = model::explore("idle_fenced", random(40000), body(s));
    EXPECT_TRUE(many.passed()) << many;
}

// The fence of whoever takes a sleeper off the list.
TEST(idle_set, needs_the_fence_of_who_wakes_where_all_others_sleep) {
    model::options o = random(40000);
    o.weakens = [](model::site const& s) { return s.file == "idle_set.hpp" && s.order == seq_cst; };
    auto const mutants = model::weaken_each("idle_weakened_relay", o, body(k_relay));
    EXPECT_EQ(mutants.size(), 1U);
    EXPECT_EQ(model::survivors(mutants), "");
}

struct unfenced : machine {
    static void heavy_fence() noexcept {}
};

void expect_deadlock(char const* name, model::options o, model::test_body const& of) {
    o.expect_failure = true;
    model::result const r = model::explore(name, o, of);
    EXPECT_TRUE(r.failed) << name;
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

TEST(idle_set, needs_the_heavy_fence) {
    expect_deadlock("idle_unfenced", exhaustive(2), body<unfenced>({.tasks = 1, .workers = 1}));
}

TEST(idle_set, needs_the_heavy_fence_where_others_are_awake) {
    shape searcher = k_relay, sleeper = k_relay;
    searcher.searcher_forgets = true;
    sleeper.sleeper_forgets = true;
    expect_deadlock("idle_relay_forgetful", random(100000), body(searcher));
    expect_deadlock("idle_relay_forgetful_sleeper", random(100000), body(sleeper));
}

// One worker with a mailbox; a worker that is woken sees what the waker wrote before.
struct desk {
    park::idle_set<machine> idle;
    park::sleeper<machine> sleeper;
    model::atomic<int> mail{0};
    model::plain<int> item{0};
};

void deliver(desk& d) {
    d.item.store(1);
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
    model::check(d.item.load() == 1, "the item is there");
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

// -- a record forked while a worker goes to sleep: the wake flag of the deque (A1 A2, B1 B2), which
// the forking thread may have shown only now (S1 S2)

struct slot {
    model::plain<int> task{0};
    model::atomic<std::uint32_t> done{0};
};

enum class mistake {
    none,
    no_wake_flag,
    no_fence_after_flags,
    shown_without_a_look,
    no_fence_after_clear,
    last_searcher_tells_nobody,
    no_fence_beside_the_awake,
    no_fence_by_the_guest
};

struct forking {
    explicit forking(mistake m) : planted(m) { records.open(slots.data(), slots.size(), true); }

    void show() {
        struct nobody {
            static bool somebody_sleeps() { return false; }
        } nobody_sleeps;
        if (planted == mistake::shown_without_a_look)
            shown.show(&records, nobody_sleeps, true);
        else
            shown.show(&records, idle, !by_guest || planted == mistake::no_fence_by_the_guest);
    }

    // What park/sleep_steps.hpp asks for.
    [[nodiscard]] bool set_wake_flags() {
        if (planted == mistake::no_wake_flag) return false;
        bool const any = shown.set_wake_flag(); // B1
        return any && planted != mistake::no_fence_after_flags;
    }
    // As many as `counted_workers` make work, who first sleep; 0: somebody does in any case.
    [[nodiscard]] bool others_make_work(bool is_announced) {
        if (planted == mistake::no_fence_beside_the_awake) return false;
        if (by_guest) return shown.get() != nullptr;
        std::uint32_t const awake = is_announced ? 0 : 1;
        return idle.sleeping() + awake != counted_workers;
    }
    static bool can_start(void*) { return true; }
    static void keep(void*) {}
    [[nodiscard]] bool something_to_do() { // B2
        auto* const seen = shown.get();
        return seen != nullptr && seen->looks_stealable();
    }

    mistake planted;
    std::uint32_t counted_workers = 0;
    bool by_guest = false; // no worker forks, but an OS thread of the program's own
    deque::split_deque<machine, slot> records;
    sched::shown_deque<machine, deque::split_deque<machine, slot>> shown;
    std::array<slot, 3> slots;
    park::idle_set<machine> idle;
    std::array<park::sleeper<machine>, 2> sleepers;
    model::atomic<std::uint32_t> begun{0};
};

slot& fork(forking& f, int task) {
    slot* const s = f.records.top();
    s->task.store(task);
    if (f.records.publish(s)) return *s; // A1, A2
    f.records.clear_wake_flag();
    if (f.planted == mistake::no_fence_after_clear)
        park::notify_light(f.idle, true);
    else
        park::notify(f.idle);
    return *s;
}

void wait_for(slot& s) {
    while (s.done.load(acquire) == 0) machine::futex_wait(s.done, 0); // pairs with run_one
}

// Forks and joins `earlier` records, then forks one more and computes for ever: it never joins it
// before somebody has run it.
void fork_and_compute(forking& f, int earlier) {
    for (int i = 0; i < earlier; ++i) {
        slot& s = fork(f, i);
        if (f.records.retract(&s) ||
            deque::deque_owner(f.records).reclaim(&s) == deque::reclaim_result::mine)
            continue;
        return wait_for(s); // the worker has run its one record
    }
    slot& last = fork(f, earlier);
    wait_for(last);
}

slot* steal_or_sleep(forking& f, park::sleeper<machine>& self) {
    if (auto* const seen = f.shown.get())
        if (slot* const s = deque::deque_thief(*seen).steal()) return s;
    if (park::prepare_sleep(f.idle, self, f))
        f.idle.sleep(self, model::k_no_deadline);
    else
        machine::pause(); // another thief is at it
    return nullptr;
}

// `together`: so many must have begun before one of them ends.
void run_one(forking& f, std::size_t index, std::uint32_t together) {
    f.idle.begin_search();
    slot* s = nullptr;
    while (s == nullptr) s = steal_or_sleep(f, f.sleepers[index]);
    if (f.planted == mistake::last_searcher_tells_nobody)
        static_cast<void>(f.idle.end_search());
    else
        park::pass_search_on(f.idle, f);
    static_cast<void>(s->task.load());
    std::uint32_t begun = f.begun.fetch_add(1, relaxed) + 1;
    machine::futex_wake(f.begun, 2);
    for (; begun < together; begun = f.begun.load(relaxed)) machine::futex_wait(f.begun, begun);
    s->done.store(1, release); // pairs with wait_for
    machine::futex_wake(s->done, 1);
}

model::test_body forking_body(int earlier, mistake planted = mistake::none) {
    return [=](model::test& t) {
        auto& f = t.make<forking>(planted);
        t.thread([&f, earlier] {
            f.show();
            fork_and_compute(f, earlier);
        });
        t.thread([&f] { run_one(f, 0, 1); });
    };
}

// Two records, each of which a worker has to run while the other one is run, too.
model::test_body two_forks_body(mistake planted = mistake::none) {
    return [=](model::test& t) {
        auto& f = t.make<forking>(planted);
        f.show();
        t.thread([&f] {
            slot& first = fork(f, 0);
            slot& second = fork(f, 1);
            wait_for(first);
            wait_for(second);
        });
        for (std::size_t k = 0; k < 2; ++k) t.thread([&f, k] { run_one(f, k, 2); });
    };
}

// A worker that sleeps is told to compute, and to fork before, while the other one, which it needs,
// goes to sleep.
void sleep_and_fork(forking& f, int earlier) {
    f.show();
    f.idle.begin_search();
    while (!park::prepare_sleep(f.idle, f.sleepers[0], f)) machine::pause();
    f.idle.sleep(f.sleepers[0], model::k_no_deadline);
    model::check(park::accept_handoff(f.idle, f.sleepers[0], f) == &f.begun, "it is told");
    fork_and_compute(f, earlier);
}

model::test_body handed_fork_body(int earlier, mistake planted = mistake::none) {
    return [=](model::test& t) {
        auto& f = t.make<forking>(planted);
        f.counted_workers = 2;
        t.thread([&f] {
            while (!f.idle.hand_over(f.sleepers[0], &f.begun)) machine::pause();
        });
        t.thread([&f, earlier] { sleep_and_fork(f, earlier); });
        t.thread([&f] { run_one(f, 1, 1); });
    };
}

TEST(wake_flag, a_record_of_one_that_slept_wakes_the_sleeper) {
    for (int const earlier : {0, 1}) {
        model::result const r =
            model::explore("wake_flag_handed", random(60000), handed_fork_body(earlier));
        EXPECT_TRUE(r.passed()) << r;
    }
    expect_deadlock("wake_flag_handed_unfenced", random(200000),
                    handed_fork_body(1, mistake::no_fence_beside_the_awake));
}

// The only worker goes to sleep while an OS thread shows its first deque.
model::test_body guest_fork_body(mistake planted = mistake::none) {
    return [=](model::test& t) {
        auto& f = t.make<forking>(planted);
        f.by_guest = true;
        t.thread([&f] {
            f.show();
            fork_and_compute(f, 0);
        });
        t.thread([&f] { run_one(f, 0, 1); });
    };
}

TEST(wake_flag, a_record_of_a_guest_wakes_the_sleeper) {
    model::result const r = model::explore("wake_flag_guest", exhaustive(2), guest_fork_body());
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    expect_deadlock("wake_flag_guest_unfenced", random(100000),
                    guest_fork_body(mistake::no_fence_by_the_guest));
}

TEST(wake_flag, a_forked_record_wakes_the_sleeper) {
    model::result const r = model::explore("wake_flag_one", exhaustive(2), forking_body(0));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(wake_flag, a_fork_after_a_joined_one_wakes_the_sleeper) {
    model::result const r = model::explore("wake_flag_two", exhaustive(2), forking_body(1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(wake_flag, the_last_searcher_wakes_the_next) {
    model::result const r = model::explore("wake_flag_chain", random(40000), two_forks_body());
    EXPECT_TRUE(r.passed()) << r;
}

TEST(wake_flag, needs_to_be_set) {
    expect_deadlock("wake_flag_none", exhaustive(2), forking_body(0, mistake::no_wake_flag));
}

TEST(wake_flag, needs_a_look_at_sleepers_when_a_deque_is_shown) {
    expect_deadlock("wake_flag_shown", exhaustive(2),
                    forking_body(0, mistake::shown_without_a_look));
}

TEST(wake_flag, needs_a_fence_after_it_was_set) {
    expect_deadlock("wake_flag_no_fence", exhaustive(2),
                    forking_body(0, mistake::no_fence_after_flags));
}

// The last searcher sets the wake flag before the maker, which has been told by the one before,
// clears it.
TEST(wake_flag, needs_a_fence_after_it_was_cleared) {
    expect_deadlock("wake_flag_unfenced", random(200000),
                    two_forks_body(mistake::no_fence_after_clear));
}

TEST(wake_flag, needs_the_last_searcher) {
    expect_deadlock("wake_flag_alone", random(40000),
                    two_forks_body(mistake::last_searcher_tells_nobody));
}

// -- two searchers: one has found work and the other goes to sleep, while a maker relies on them,
// or on the wake flag

// A system without membarrier: everybody makes fences.
struct symmetric : machine {
    static void heavy_fence() noexcept { fence_seq_cst(); }
};

template <class Machine> struct two_searchers {
    explicit two_searchers(bool flagged) : wake_flag(flagged) {
        idle.begin_search();
        idle.begin_search();
    }
    // What park/sleep_steps.hpp asks for.
    [[nodiscard]] bool set_wake_flags() {
        wake_flag.store(true, relaxed);
        return true;
    }
    static bool others_make_work(bool) { return true; }
    [[nodiscard]] bool something_to_do() const { return work.load(relaxed) != 0; }

    void clear_wake_flag() {
        wake_flag.store(false, relaxed);
        park::notify(idle);
    }
    // The last piece of work, which nobody takes: somebody has to be told of it.
    void make() {
        if (wake_flag.load(relaxed)) clear_wake_flag(); // for the piece before
        work.store(1, relaxed);
        if (wake_flag.load(relaxed)) clear_wake_flag();
    }

    park::idle_set<Machine> idle;
    park::sleeper<Machine> sleeper;
    model::atomic<bool> wake_flag;
    model::atomic<int> work{0};
};

// `reads_set`: the maker needs no wake flag, as it reads the idle set each time.
template <class Machine = machine> model::test_body two_searchers_body(bool reads_set) {
    return [reads_set](model::test& t) {
        auto& s = t.make<two_searchers<Machine>>(!reads_set);
        t.thread([&s, reads_set] {
            if (!reads_set) return s.make();
            s.work.store(1, relaxed);
            park::notify_light(s.idle, !std::is_same_v<Machine, symmetric>);
        });
        t.thread([&s] { park::pass_search_on(s.idle, s); });
        t.thread([&s] {
            while (park::prepare_sleep(s.idle, s.sleeper, s))
                s.idle.sleep(s.sleeper, model::k_no_deadline);
            static_cast<void>(s.idle.end_search());
        });
        t.at_end([&s] {
            model::check(s.idle.sleeping() == 0 && s.idle.searching() == 0, "nobody is counted");
        });
    };
}

TEST(idle_set, one_of_two_searchers_hears_of_what_is_made) {
    for (bool const reads_set : {true, false}) {
        model::result const r =
            model::explore(reads_set ? "two_searchers" : "two_searchers_wake_flag", exhaustive(2),
                           two_searchers_body(reads_set));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    }
}

TEST(idle_set, one_of_two_searchers_hears_of_what_is_made_without_heavy_fences) {
    model::result const r = model::explore("two_searchers_symmetric", exhaustive(2),
                                           two_searchers_body<symmetric>(true));
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// -- the watcher, which is told of what happens to workers, and of work that nobody is there for

struct watching {
    park::idle_set<machine> idle;
    park::sleeper<machine> sleeper;
    model::atomic<bool> stops{false};
    model::atomic<bool> watches{false};
    model::atomic<int> work{0};
    int times_told = 0;
};

// It hears of each last sleeper that is woken, or finds that nobody sleeps; else it would sleep for
// ever.
model::test_body last_sleeper_body() {
    return [](model::test& t) {
        auto& w = t.make<watching>();
        t.thread([&w] {
            w.idle.begin_search();
            w.idle.announce(w.sleeper);
            while (w.idle.sleep(w.sleeper, model::k_no_deadline) != sleep_result::woken) {}
            static_cast<void>(w.idle.end_search());
        });
        t.thread([&w] {
            while (w.idle.sleeping() == 0) machine::pause();
            model::check(w.idle.wake_one(), "there is one to be woken");
        });
        t.thread([&w] {
            while (w.idle.watch_sleepers())
                w.times_told += static_cast<int>(w.idle.sleep_as_watcher(model::k_no_deadline));
        });
        t.at_end([&w] { model::check(w.idle.sleeping() == 0, "nobody sleeps"); });
    };
}

TEST(idle_set, the_watcher_is_told_that_the_last_sleeper_is_woken) {
    model::result const r = model::explore("watch_sleepers", random(60000), last_sleeper_body());
    EXPECT_TRUE(r.passed()) << r;
}

// What is written before it is told, it sees: the wish to stop, though somebody else tells it of
// work at that moment.
model::test_body stop_body() {
    return [](model::test& t) {
        auto& w = t.make<watching>();
        t.thread([&w] {
            while (!w.stops.load(relaxed)) {
                w.idle.watch_work();
                static_cast<void>(w.idle.sleep_as_watcher(model::k_no_deadline));
            }
        });
        t.thread([&w] {
            w.stops.store(true, relaxed);
            w.idle.wake_watcher();
        });
        t.thread([&w] { park::notify_light(w.idle, true); });
        t.at_end([&w] { model::check(!w.idle.wake_is_due(), "nothing is watched any more"); });
    };
}

TEST(idle_set, the_watcher_is_told_to_stop) {
    model::result const r = model::explore("watch_stop", exhaustive(3), stop_body());
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

// Its wish to be told of work is a hint, and its sleep is limited. Where makers know of the wish,
// it is told.
model::test_body work_body(bool beside_searcher, int* told) {
    return [=](model::test& t) {
        auto& w = t.make<watching>();
        if (beside_searcher) w.idle.begin_search();
        t.thread([&w] {
            w.idle.watch_work();
            w.watches.store(true, release); // pairs with the next
            w.times_told += static_cast<int>(w.idle.sleep_as_watcher(1000));
        });
        t.thread([&w, beside_searcher] {
            while (!w.watches.load(acquire)) machine::pause();
            w.work.store(1, relaxed);
            park::notify_light(w.idle, true);
            if (!beside_searcher) return;
            struct nothing_else {
                static bool set_wake_flags() { return false; }
                static bool others_make_work(bool) { return true; }
                static bool something_to_do() { return false; }
            } nothing;
            park::pass_search_on(w.idle, nothing); // by the searcher, which has found it
        });
        t.at_end([&w, told] {
            model::check(w.idle.sleeping() == 0 && w.idle.searching() == 0, "nobody is counted");
            model::check(!w.idle.wake_is_due(), "nothing is watched any more");
            *told += w.times_told;
        });
    };
}

TEST(idle_set, the_watcher_is_told_of_work_that_nobody_is_there_for) {
    for (bool const beside_searcher : {false, true}) {
        int told = 0;
        model::options o = random(5000);
        o.limit.early_timeouts = 1;
        char const* const name = beside_searcher ? "watch_found_work" : "watch_work";
        model::result const r = model::explore(name, o, work_body(beside_searcher, &told));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_GT(told, 300) << name; // else its time was up
    }
}

// Work that is handed over, work that needs every worker, records that are forked, and the watcher.
// The orders in this file, but for the heavy fences, are those of its board of tasks.
TEST(idle_set, every_order_is_needed) {
    model::options o = random(20000);
    // The signal in unlist is behind a fence.
    o.weakens = [](model::site const& s) {
        bool const is_signal = s.kind == model::access_kind::store && s.order == release;
        return (s.file == "idle_set.hpp" && s.order != seq_cst && !is_signal) ||
               s.file == "sleep_steps.hpp";
    };
    model::options all = exhaustive(2);
    all.weakens = o.weakens;
    struct way {
        char const* name;
        model::options const& how;
        model::test_body of;
    };
    way const first{"idle_weakened_handoff", o,
                    body({.tasks = 1, .workers = 1, .hand_over = true})};
    way const others[] = {{"idle_weakened", o, body({.tasks = 2, .workers = 2, .together = true})},
                          {"idle_weakened_fork", o, forking_body(1)},
                          {"idle_weakened_forks", o, two_forks_body()},
                          {"idle_weakened_two", all, two_searchers_body(true)},
                          {"idle_weakened_fences", all, two_searchers_body<symmetric>(true)},
                          {"idle_weakened_wake_flag", all, two_searchers_body(false)},
                          {"idle_weakened_sleepers", o, last_sleeper_body()},
                          {"idle_weakened_stop", o, stop_body()},
                          {"idle_weakened_relay", o, body(k_relay)},
                          {"idle_weakened_fenced", all, body(k_fenced)}};
    auto mutants = model::weaken_each(first.name, first.how, first.of);
    for (way const& w : others)
        mutants = model::found_by_any(std::move(mutants), model::weaken_each(w.name, w.how, w.of));
    EXPECT_GE(mutants.size(), 10U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

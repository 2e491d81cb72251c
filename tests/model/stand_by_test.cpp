// SPDX-License-Identifier: Apache-2.0
//
// A worker that is told to stand by leaves the idle set for good: no task is left lying beside a
// sleeping worker because somebody relied on the one that has gone. What sched/idle.cpp and
// sched/active_workers.cpp do, on the real idle set.
#include "explorer/explore.hpp"
#include "park/idle_set.hpp"
#include "sched/worker_limit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

struct errors {
    bool leaves_silently = false; // stand_by wakes nobody
    // A worker that goes to sleep does not check whether it is surplus.
    bool forgets_to_check = false;
    bool changes_silently = false; // the change wakes nobody
};

// Two workers, of which the second comes and goes, and tasks that are only counted.
class crew {
public:
    explicit crew(errors const& e) : m_errors(e) { m_limit.change(2); }

    void post() {
        m_posted.fetch_add(1, release); // G1; pairs with take
        machine::compiler_barrier();
        if (m_idle.wake_is_due()) m_idle.wake_one(); // G2
    }
    // By the number, or by the second worker's flag.
    void set_active(int wanted, bool by_flag) {
        if (by_flag) m_disabled.store(wanted == 1, relaxed);
        m_limit.change(by_flag ? 2 : wanted); // G1
        m_limit.tell_all();
        if (wanted == 2) return;
        machine::fence_seq_cst();
        if (m_errors.changes_silently) return;
        m_idle.wake(m_sleepers[1]); // G2
        m_idle.wake_one();
    }
    void work(std::uint32_t index, std::uint32_t tasks) {
        m_idle.begin_search();
        while (!m_stop.load(acquire)) { // pairs with finish
            if (is_surplus(index)) {
                static_cast<void>(m_idle.end_search());
                stand_by(index);
            } else if (take()) {
                if (m_idle.end_search()) pass_search_on();
                finish(tasks);
            } else {
                sleep(index);
                continue;
            }
            m_idle.begin_search();
        }
        static_cast<void>(m_idle.end_search());
    }
    void wait_for_surplus(std::uint32_t standing_by) {
        while (m_standing_by.load(acquire) != standing_by)
            machine::futex_wait(m_standing_by, 1 - standing_by); // pairs with tell_standing_by
    }
    void check_end(std::uint32_t tasks) {
        model::check(m_taken.load(relaxed) == tasks, "each task was taken");
        model::check(m_idle.sleeping() == 0, "nobody counts as asleep in the end");
        model::check(m_idle.searching() == 0, "nobody counts as searching in the end");
    }

    // The manager's last step, where tasks are done by then.
    void end() {
        m_stop.store(true, release); // pairs with work
        machine::fence_seq_cst();
        m_limit.change(3);
        m_limit.tell_all();
        while (m_idle.wake_one()) {}
    }

private:
    [[nodiscard]] bool is_surplus(std::uint32_t index) const {
        return static_cast<int>(index) >= m_limit.number_in(m_limit.read()) ||
               (index == 1 && m_disabled.load(relaxed));
    }
    [[nodiscard]] bool looks_empty() const {
        return m_taken.load(relaxed) >= m_posted.load(relaxed);
    }
    bool take() {
        std::uint32_t at = m_taken.load(relaxed);
        while (at < m_posted.load(acquire)) { // pairs with post
            if (m_taken.compare_exchange_strong(at, at + 1, relaxed)) return true;
        }
        return false;
    }
    void pass_search_on() {
        machine::heavy_fence();
        if (!looks_empty()) m_idle.wake_one();
    }
    void sleep(std::uint32_t index) {
        auto& self = m_sleepers[index];
        m_idle.announce(self); // H1
        machine::heavy_fence();
        bool const surplus = !m_errors.forgets_to_check && is_surplus(index);
        if (!looks_empty() || m_stop.load(relaxed) || surplus) // H2
            m_idle.withdraw(self);
        else
            m_idle.sleep(self, model::k_no_deadline);
    }
    void stand_by(std::uint32_t index) {
        if (!m_errors.leaves_silently) m_idle.wake_one();
        tell_standing_by(1);
        for (;;) {
            std::uint32_t const seen = m_limit.read();
            if (!is_surplus(index) || m_stop.load(relaxed)) break; // relaxed: set before the limit
            static_cast<void>(m_limit.wait_for_change(seen, ~std::uint64_t{0}));
        }
        tell_standing_by(0);
    }
    void tell_standing_by(std::uint32_t now) {
        m_standing_by.store(now, release); // pairs with wait_for_surplus
        machine::futex_wake(m_standing_by, 1);
    }
    void finish(std::uint32_t tasks) {
        if (tasks != 0 && m_done.fetch_add(1, acq_rel) + 1 == tasks) end();
    }

    errors m_errors;
    model::atomic<std::uint32_t> m_posted{0};
    model::atomic<std::uint32_t> m_taken{0};
    model::atomic<std::uint32_t> m_done{0};
    sched::worker_limit<machine> m_limit;
    model::atomic<bool> m_disabled{false}; // the second worker
    model::atomic<std::uint32_t> m_standing_by{0};
    model::atomic<bool> m_stop{false};
    park::idle_set<machine> m_idle;
    std::array<park::sleeper<machine>, 2> m_sleepers;
};

// `manage` posts that many tasks and changes the number of workers on the way; 0: it ends the test
// itself.
template <class Manage>
model::test_body body(std::uint32_t tasks, Manage manage, errors const& e = {}) {
    return [=](model::test& t) {
        auto& c = t.make<crew>(e);
        t.thread([&c, manage] { manage(c); });
        for (std::uint32_t k = 0; k < 2; ++k) t.thread([&c, k, tasks] { c.work(k, tasks); });
        t.at_end([&c, tasks] { c.check_end(tasks); });
    };
}

model::options random(std::size_t executions, bool expect_failure = false) {
    model::options o = model::random(executions);
    o.expect_failure = expect_failure;
    return o;
}

template <bool by_flag = false> void go_then_post(crew& c) {
    c.set_active(1, by_flag);
    c.post();
}
template <bool by_flag = false> void post_go_post_come_post(crew& c) {
    c.post();
    c.set_active(1, by_flag);
    c.post();
    c.set_active(2, by_flag);
    c.post();
}
template <bool by_flag = false> void go(crew& c) {
    c.set_active(1, by_flag);
    c.wait_for_surplus(1);
    c.end();
}
template <bool by_flag = false> void go_and_come(crew& c) {
    c.set_active(1, by_flag);
    c.wait_for_surplus(1);
    c.set_active(2, by_flag);
    c.wait_for_surplus(0);
    c.end();
}

TEST(stand_by, no_task_is_left_to_the_one_that_goes) {
    model::result const r = model::explore("stand_by_go", random(6000), body(1, &go_then_post<>));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(stand_by, comes_back) {
    model::result const r =
        model::explore("stand_by_come", random(6000), body(3, &post_go_post_come_post<>));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(stand_by, a_sleeper_goes) {
    model::result const r = model::explore("stand_by_sleeper", random(6000), body(0, &go<>));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(stand_by, one_that_is_disabled_goes_and_comes_back) {
    for (auto const& b : {body(1, &go_then_post<true>), body(3, &post_go_post_come_post<true>),
                          body(0, &go<true>), body(0, &go_and_come<true>)}) {
        model::result const r = model::explore("stand_by_disabled", random(3000), b);
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(stand_by, must_wake_whoever_sleeps) {
    model::result const r = model::explore("stand_by_silent", random(6000, true),
                                           body(1, &go_then_post<>, {.leaves_silently = true}));
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

TEST(stand_by, a_sleeper_must_be_told) {
    model::result const r = model::explore("stand_by_untold", random(6000, true),
                                           body(0, &go<>, {.changes_silently = true}));
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

TEST(stand_by, one_that_goes_to_sleep_must_check_again) {
    model::result const r = model::explore("stand_by_unseen", random(6000, true),
                                           body(0, &go<>, {.forgets_to_check = true}));
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

// Of the limit. Those of the idle set are in park_test.cpp, and the tasks here are no part of the
// library.
TEST(stand_by, every_order_is_needed) {
    model::options o = random(3000);
    o.weakens = [](model::site const& s) { return s.file == "worker_limit.hpp"; };
    auto const mutants = model::weaken_each("stand_by_weakened", o, body(0, &go_and_come<true>));
    EXPECT_EQ(mutants.size(), 2U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Workers that take tasks, and sleep where there are none, by the steps of park/sleep_steps.hpp;
// the tasks come from outside, or are made by workers.
#pragma once

#include "explorer/explore.hpp"
#include "park/idle_set.hpp"
#include "park/sleep_steps.hpp"

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
    [[nodiscard]] bool looks_empty() const {
        return m_taken.load(relaxed) >= m_published.load(relaxed);
    }
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
    bool together = false;  // no task ends before all have begun: each worker is needed
    bool hand_over = false; // the maker gives the work to a sleeper by hand where there is one
    // A worker cannot start the first thing that it is given, and puts it among the other tasks.
    bool refuses = false;
    bool elsewhere = false; // one of those that sleep does not do so on its futex
    // What comes from outside comes with a fence, and the last of it to one worker that sleeps,
    // which makes so many more. No task ends before all have begun.
    int made = 0;
    bool fenced = false; // what comes from outside comes with a fence, and nothing else is made
    // All other workers are taken to sleep, by one that goes to sleep, or has found work.
    bool sleeper_forgets = false, searcher_forgets = false;
};

// Where one worker at a time may sleep, as in an epoll. Whoever wakes it may come too late.
template <class Machine> class other_bed final : public base::waker {
public:
    void wake() noexcept override {
        m_rung.store(1, release); // pairs with rest
        Machine::futex_wake(m_rung, 1);
    }
    [[nodiscard]] bool take() { return !m_is_taken.exchange(true, acquire); }
    void rest() {
        // acquire: what the waker wrote before is seen.
        while (m_rung.exchange(0, acquire) == 0) Machine::futex_wait(m_rung, 0);
    }
    void leave() { m_is_taken.store(false, release); }

private:
    model::atomic<bool> m_is_taken{false};
    model::atomic<std::uint32_t> m_rung{0};
};

template <class Machine> class office {
public:
    explicit office(shape const& s) : m_shape(s) {}

    void make_all() {
        for (int i = 0; i < m_shape.tasks; ++i) {
            if (m_shape.hand_over && hand_to_sleeper(i)) continue;
            bool const is_last = m_shape.made != 0 && i == m_shape.tasks - 1;
            if (is_last && m_idle.hand_over(m_sleepers[0], placed())) continue;
            publish();
            for (int k = 0; is_last && k < m_shape.made; ++k) publish();
        }
    }
    void work(std::size_t index) {
        m_idle.begin_search();
        while (!m_stop.load(acquire)) { // pairs with finish_task
            if (m_board.take() || (m_shape.refuses && m_kept.take())) {
                park::pass_search_on(m_idle, *this);
                if (m_shape.together) meet(m_shape.tasks);
                meet_all();
            } else if (m_made.take()) {
                park::pass_search_on(m_idle, *this);
                meet_all();
            } else if (rest(m_sleepers[index])) {
                make_more();
                meet_all();
            } else {
                continue;
            }
            finish_task();
            m_idle.begin_search();
        }
        static_cast<void>(m_idle.end_search());
    }
    void check_end() {
        int const done = static_cast<int>(m_board.taken() + m_kept.taken() + m_made.taken()) +
                         m_handed.load(relaxed);
        model::check(done == m_shape.tasks + m_shape.made, "each task was taken");
        model::check(m_idle.sleeping() == 0, "nobody counts as asleep in the end");
        model::check(m_idle.searching() == 0, "nobody counts as searching in the end");
    }
    [[nodiscard]] int sleeps() const { return m_sleeps.load(relaxed); }
    [[nodiscard]] int timeouts() const { return m_timeouts.load(relaxed); }

    // What park/sleep_steps.hpp asks for. Makers look at the idle set in any case.
    [[nodiscard]] bool set_wake_flags() const { return false; }
    [[nodiscard]] bool others_make_work(bool is_announced) const {
        if (!is_fenced()) return true; // makers outside
        std::uint32_t const awake = is_announced ? 0 : 1;
        bool const forgets = is_announced ? m_shape.sleeper_forgets : m_shape.searcher_forgets;
        return !forgets && m_idle.sleeping() + awake != static_cast<std::uint32_t>(m_shape.workers);
    }
    [[nodiscard]] bool something_to_do() const {
        return !m_board.looks_empty() || !m_made.looks_empty() ||
               (m_shape.refuses && !m_kept.looks_empty()) || m_stop.load(relaxed);
    }
    [[nodiscard]] bool can_start(void*) {
        return !m_shape.refuses || m_refused.exchange(true, relaxed);
    }
    void keep(void* handoff) {
        model::check(static_cast<model::plain<int>*>(handoff)->load() != 0,
                     "a handoff arrives whole");
        m_kept.publish();
    }

private:
    bool hand_to_sleeper(int task) {
        model::plain<int>& handoff = m_handoffs[static_cast<std::size_t>(task)];
        handoff.store(task + 1);
        return m_idle.searching() == 0 && m_idle.hand_over(&handoff);
    }
    void* placed() {
        m_handoffs[0].store(1);
        return &m_handoffs[0];
    }
    void meet_all() {
        if (m_shape.made != 0) meet(m_shape.tasks + m_shape.made);
    }
    [[nodiscard]] bool is_fenced() const { return m_shape.fenced || m_shape.made != 0; }
    // From outside.
    void publish() {
        m_board.publish();
        if (is_fenced())
            park::notify(m_idle);
        else
            park::notify_light(m_idle, true);
    }
    // As a worker does: without a fence.
    void make_more() {
        for (int i = 0; i < m_shape.made; ++i) {
            m_made.publish();
            park::notify_light(m_idle, true);
        }
    }
    void meet(int count) {
        std::uint32_t begun = m_begun.fetch_add(1, relaxed) + 1;
        Machine::futex_wake(m_begun, 2);
        while (begun != static_cast<std::uint32_t>(count)) {
            Machine::futex_wait(m_begun, begun);
            begun = m_begun.load(relaxed);
        }
    }
    // The last task stops everybody.
    void finish_task() {
        if (m_done.fetch_add(1, acq_rel) + 1 != m_shape.tasks + m_shape.made) return;
        m_stop.store(true, release); // pairs with work
        Machine::fence_seq_cst();
        while (m_idle.wake_one()) {}
    }
    // True: a task has been handed over, and done.
    bool rest(park::sleeper<Machine>& self) {
        if (park::prepare_sleep(m_idle, self, *this)) {
            m_sleeps.fetch_add(1, relaxed);
            if (m_shape.elsewhere)
                sleep_elsewhere(self);
            else if (m_idle.sleep(self, m_shape.deadline) == sleep_result::timed_out)
                m_timeouts.fetch_add(1, relaxed);
        }
        auto* const handoff =
            static_cast<model::plain<int>*>(park::accept_handoff(m_idle, self, *this));
        if (handoff == nullptr) return false;
        model::check(handoff->load() != 0, "a handoff arrives whole");
        m_handed.fetch_add(1, relaxed);
        return true;
    }

    void sleep_elsewhere(park::sleeper<Machine>& self) {
        while (!m_idle.is_woken(self)) {
            if (!m_bed.take()) {
                m_idle.doze(self, m_shape.deadline);
                continue;
            }
            if (m_idle.sleeps_elsewhere(self, &m_bed)) m_bed.rest();
            static_cast<void>(m_idle.sleeps_elsewhere(self, nullptr));
            m_bed.leave();
        }
    }

    shape m_shape;
    other_bed<Machine> m_bed;
    board m_board;
    board m_kept; // by the one that has refused
    board m_made; // by a worker
    model::atomic<bool> m_refused{false};
    park::idle_set<Machine> m_idle;
    std::array<park::sleeper<Machine>, 3> m_sleepers;
    std::array<model::plain<int>, board::k_most> m_handoffs;
    model::atomic<int> m_handed{0};
    model::atomic<std::uint32_t> m_begun{0};
    model::atomic<int> m_done{0};
    model::atomic<bool> m_stop{false};
    model::atomic<int> m_sleeps{0};
    model::atomic<int> m_timeouts{0};
};

template <class Machine = machine>
model::test_body body(shape s, int* sleeps = nullptr, int* timeouts = nullptr) {
    return [=](model::test& t) {
        auto& o = t.make<office<Machine>>(s);
        t.thread([&o] { o.make_all(); });
        for (int i = 0; i < s.workers; ++i)
            t.thread([&o, i] { o.work(static_cast<std::size_t>(i)); });
        t.at_end([=, &o] {
            o.check_end();
            if (sleeps != nullptr) *sleeps += o.sleeps();
            if (timeouts != nullptr) *timeouts += o.timeouts();
        });
    };
}

} // namespace

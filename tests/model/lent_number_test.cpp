// SPDX-License-Identifier: Apache-2.0
//
// A number that a worker has lent is used by one thread at a time, and whoever comes back to it
// waits for nothing that needs what it holds. What sched/stand_ins.cpp and sched/active_workers.cpp
// do, with the real numbers and limit, and one lock.
#include "explorer/explore.hpp"
#include "sched/lent_number.hpp"
#include "sched/worker_limit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;
using sched::lent_number;

struct errors {
    // Who comes back goes on at once, whoever has the number.
    bool does_not_wait = false;
    // It waits for the number with the lock, which the stand-in needs to give it back;
    bool waits_with_lock = false;
    // or on its worker, where no other worker finds it.
    bool waits_on_worker = false;
    // A stand-in that is blocked keeps the number.
    bool blocks_with_number = false;
    bool gives_back_silently = false; // nobody is told
    // Nobody stands in for a worker that was blocked while nobody could.
    bool forgets_who_wants = false;
    // A worker that has stood by does not see again, under the lock, whether it is wanted.
    bool does_not_ask_again = false;
};

class mutex {
public:
    void lock() {
        while (m_word.exchange(1, acquire) != 0) machine::futex_wait(m_word, 1);
    }
    void unlock() {
        m_word.store(0, release);
        machine::futex_wake(m_word, INT_MAX);
    }

private:
    model::atomic<std::uint32_t> m_word{0};
};

// A word that is set once.
class event {
public:
    void set() {
        m_is_set.store(1, release);
        machine::futex_wake(m_is_set, INT_MAX);
    }
    void wait() {
        while (!is_set()) machine::futex_wait(m_is_set, 0);
    }
    [[nodiscard]] bool is_set() { return m_is_set.load(acquire) != 0; }

private:
    model::atomic<std::uint32_t> m_is_set{0};
};

// Worker 0 runs `blocked`, which blocks it on purpose, and worker 1 stands in. `other` runs on
// worker 1 only. There may be a worker 2, with a number of its own.
class crew {
public:
    static constexpr std::size_t k_workers = 3;
    enum class other_does {
        uses_number,
        waits_for_blocked,
        blocks_until_blocked_is_back,
        blocks_until_blocked_blocks_again
    };

    crew(errors const& e, other_does what) : m_errors(e), m_other(what) {
        m_limit.change(1);
        m_stands_by[1] = true;
    }

    void run_lender() {
        lend();
        if (is_back_at_once()) {
            use(0);
            go_on();
        }
        loop(0);
    }
    void run_stand_in() { loop(1); }
    void run_third() { loop(2); }

    void check_end() {
        model::check(m_is_back.is_set(), "who was blocked has gone on");
        bool const is_away = m_numbers[0].is_lent() || m_numbers[0].wants_stand_in();
        model::check(!is_away, "the number is back");
    }

private:
    // --- numbers, as in stand_ins.cpp ------------------------------------------------------------
    void lend() {
        std::lock_guard const held(m_lock);
        m_numbers[0].want_stand_in();
        if (m_stands_by[1]) take_up();
    }
    void take_up() {
        if (!m_numbers[0].wants_stand_in()) return;
        m_numbers[0].lend_to(m_numbers[1]);
        m_is_stand_in.store(true, relaxed);
        tell();
    }
    // The stand-in is blocked, and there is no third worker.
    void pass_on() {
        std::lock_guard const held(m_lock);
        give_back(1);
        if (!m_numbers[1].stands_in()) return;
        static_cast<void>(m_numbers[0].take_back());
        m_is_stand_in.store(false, relaxed);
        m_numbers[0].want_stand_in();
    }
    [[nodiscard]] bool take_back() {
        if (!m_numbers[0].is_lent()) {
            static_cast<void>(m_numbers[0].take_back());
            return false;
        }
        bool const waits = m_numbers[0].take_back() == lent_number::taken_back::later;
        m_is_stand_in.store(false, relaxed);
        m_is_held_back.store(waits, relaxed);
        tell();
        return waits;
    }
    void give_back(std::size_t self) {
        lent_number const* const lender = m_numbers[self].end();
        if (lender == nullptr) return;
        model::check(lender->own() == 0, "the number goes back to its lender");
        m_is_held_back.store(false, relaxed);
        if (!m_errors.gives_back_silently) tell();
    }
    void tell() {
        m_limit.change(1);
        m_limit.tell_all();
    }

    // --- the thread that was blocked -------------------------------------------------------------
    // False: it is ready, for whoever takes it.
    bool is_back_at_once() {
        std::unique_lock held(m_lock);
        if (!take_back() || m_errors.does_not_wait) return true;
        if (!m_errors.waits_with_lock && !m_errors.waits_on_worker) {
            m_is_ready.store(true, relaxed);
            return false;
        }
        if (m_errors.waits_on_worker) held.unlock();
        for (;;) {
            std::uint32_t const seen = m_limit.read();
            if (!m_is_held_back.load(relaxed)) return true;
            m_limit.wait_for_change(seen, ~std::uint64_t{0});
        }
    }
    bool take_ready(std::size_t self) {
        {
            std::lock_guard const held(m_lock);
            if (!m_is_ready.load(relaxed)) return false;
            m_is_ready.store(false, relaxed);
        }
        use(self == 1 ? m_numbers[1].number() : static_cast<int>(self));
        go_on();
        return true;
    }
    // On worker 0 if there is no third one.
    void go_on() {
        if (m_other == other_does::blocks_until_blocked_blocks_again) {
            lend();
            m_blocks_again.set();
            m_other_goes_on.wait();
            std::lock_guard const held(m_lock);
            static_cast<void>(take_back());
        }
        m_is_back.set();
        std::lock_guard const held(m_lock);
        tell(); // all may end
    }

    // --- the other one ---------------------------------------------------------------------------
    void run_other() {
        int const number = m_numbers[1].number();
        use(number);
        if (m_other == other_does::waits_for_blocked) {
            m_is_back.wait();
            use(number);
        }
        if (m_other == other_does::blocks_until_blocked_is_back) block_until(m_is_back);
        if (m_other != other_does::blocks_until_blocked_blocks_again) return;
        block_until(m_blocks_again);
        use(m_numbers[1].number());
        m_other_goes_on.set();
    }
    void block_until(event& done) {
        if (!m_errors.blocks_with_number) pass_on();
        done.wait();
        std::lock_guard const held(m_lock);
        if (!m_errors.forgets_who_wants) take_up();
        m_numbers[1].begin();
    }

    // --- workers ---------------------------------------------------------------------------------
    [[nodiscard]] bool is_surplus(std::size_t self) const {
        bool const is_wanted = self != 1 || m_is_stand_in.load(relaxed);
        return !is_wanted || (self != 2 && m_is_held_back.load(relaxed));
    }
    void begin_standing_by(std::size_t self) {
        std::lock_guard const held(m_lock);
        m_stands_by[self] = true;
        give_back(self);
        if (self == 1) take_up();
    }
    void end_standing_by(std::size_t self) {
        std::lock_guard const held(m_lock);
        if (is_surplus(self) && !m_errors.does_not_ask_again) return;
        m_numbers[self].begin();
        m_stands_by[self] = false;
    }
    // True: there may be more.
    bool step(std::size_t self) {
        if (m_stands_by[self]) {
            if (is_surplus(self)) return false;
            end_standing_by(self);
            return true;
        }
        if (self == 1 && !m_other_has_run) {
            m_other_has_run = true;
            run_other();
            return true;
        }
        if (!is_surplus(self)) return take_ready(self);
        begin_standing_by(self);
        return true;
    }
    void loop(std::size_t self) {
        for (;;) {
            std::uint32_t const seen = m_limit.read();
            if (step(self)) continue;
            if (m_is_back.is_set() && (m_stands_by[self] || self != 1)) return;
            m_limit.wait_for_change(seen, ~std::uint64_t{0});
        }
    }

    // What a program keeps for each number, without a lock.
    void use(int number) {
        model::check(number >= 0, "who runs has a number");
        model::plain<int>& data = m_data[static_cast<std::size_t>(number)];
        data.store(data.load() + 1);
    }

    errors m_errors;
    other_does m_other;
    mutex m_lock;
    sched::worker_limit<machine> m_limit;
    std::array<lent_number, k_workers> m_numbers{lent_number(0), lent_number(1), lent_number(2)};
    std::array<bool, k_workers> m_stands_by{}; // each by its own
    model::atomic<bool> m_is_stand_in{false};  // worker 1
    model::atomic<bool> m_is_held_back{false}; // workers 0 and 1
    model::atomic<bool> m_is_ready{false};     // the thread that was blocked; under the lock
    bool m_other_has_run = false;              // by worker 1
    event m_is_back, m_blocks_again, m_other_goes_on;
    std::array<model::plain<int>, k_workers> m_data;
};

using enum crew::other_does;

model::test_body body(crew::other_does what, bool with_third, errors const& e = {}) {
    return [=](model::test& t) {
        auto& c = t.make<crew>(e, what);
        t.thread([&c] { c.run_lender(); });
        t.thread([&c] { c.run_stand_in(); });
        if (with_third) t.thread([&c] { c.run_third(); });
        t.at_end([&c] { c.check_end(); });
    };
}

model::options random(bool expect_failure = false) {
    model::options o = model::random(6000);
    o.expect_failure = expect_failure;
    return o;
}

void expect_failure(char const* name, model::test_body const& b, char const* told) {
    model::result const r = model::explore(name, random(true), b);
    EXPECT_TRUE(r.failed) << name;
    EXPECT_NE(r.message.find(told), std::string::npos) << r;
}

TEST(lent_number, one_thread_uses_it_at_a_time) {
    for (bool const with_third : {false, true}) {
        model::result const r =
            model::explore("lent_number", random(), body(uses_number, with_third));
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(lent_number, who_comes_back_may_be_waited_for) {
    model::result const r =
        model::explore("lent_number_waited", random(), body(waits_for_blocked, true));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(lent_number, a_stand_in_may_be_blocked) {
    model::result const r =
        model::explore("lent_number_both", random(), body(blocks_until_blocked_is_back, false));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(lent_number, a_lender_blocks_again_while_its_stand_in_is_blocked) {
    model::result const r = model::explore("lent_number_again", random(),
                                           body(blocks_until_blocked_blocks_again, false));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(lent_number, must_find_who_wants_a_stand_in) {
    expect_failure("lent_number_forgotten",
                   body(blocks_until_blocked_blocks_again, false, {.forgets_who_wants = true}),
                   "who runs has a number");
}

TEST(lent_number, must_be_waited_for) {
    expect_failure("lent_number_at_once", body(uses_number, false, {.does_not_wait = true}),
                   "race");
}

TEST(lent_number, must_not_be_waited_for_with_the_lock) {
    expect_failure("lent_number_lock", body(uses_number, false, {.waits_with_lock = true}),
                   "deadlock");
}

TEST(lent_number, must_not_be_waited_for_on_the_worker) {
    expect_failure("lent_number_worker", body(waits_for_blocked, true, {.waits_on_worker = true}),
                   "deadlock");
}

TEST(lent_number, must_not_be_kept_while_blocked) {
    expect_failure("lent_number_kept",
                   body(blocks_until_blocked_is_back, false, {.blocks_with_number = true}),
                   "deadlock");
}

TEST(lent_number, must_be_told_of) {
    expect_failure("lent_number_silent", body(uses_number, false, {.gives_back_silently = true}),
                   "deadlock");
}

TEST(lent_number, must_be_asked_for_again) {
    expect_failure("lent_number_unseen", body(uses_number, false, {.does_not_ask_again = true}),
                   "who runs has a number");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The word between a thread that finishes and the one that waits for it, perhaps with a deadline:
// the waiter is woken exactly once, by the one who finishes or by the timer, and sees the result
// when the word says so.
#include "explorer/explore.hpp"
#include "sched/records/join_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;
using word_type = sched::join_word<model::atomic<std::uintptr_t>>;

constexpr std::uintptr_t k_waiter = 64;

struct meeting {
    model::atomic<std::uintptr_t> word{detail::k_running};
    model::plain<int> result{0};
    model::atomic<int> wakes{0};
    model::atomic<bool> given_up{false};
    model::plain<int> frame{0}; // of the waiter: written before it waits, read by whoever wakes it

    void finish() {
        result.store(7);
        std::uintptr_t const waiter = word_type(word).finish();
        if (waiter != 0) wake(waiter);
    }
    void wake(std::uintptr_t waiter) {
        model::check(waiter == k_waiter, "who is woken is who waits");
        model::check(frame.load() == 1, "the waiter is seen as it was when it began to wait");
        wakes.fetch_add(1, release); // pairs with sleep
    }
    // The waiter stands still until somebody wakes it.
    void sleep() {
        while (wakes.load(acquire) == 0) machine::pause(); // pairs with wake
    }
    void check_result() { model::check(result.load() == 7, "what is done has left its result"); }

    void wait() {
        word_type w(word);
        frame.store(1);
        if (!w.is_done() && w.set_waiter(k_waiter)) sleep();
        model::check(w.is_done(), "the wait ends when the thread is done");
        check_result();
    }
    // As a guest's timed join: the waiter itself takes its name back.
    void wait_and_give_up() {
        word_type w(word);
        frame.store(1);
        if (!w.is_done() && w.set_waiter(k_waiter)) {
            if (w.clear_waiter(k_waiter)) return given_up.store(true, relaxed);
            sleep();
        }
        model::check(w.is_done(), "not done, but woken");
        check_result();
    }
};

model::options exhaustive() { return model::exhaustive(3, 300000); }

void join_body(model::test& t) {
    auto& m = t.make<meeting>();
    t.thread([&m] { m.finish(); });
    t.thread([&m] { m.wait(); });
    t.at_end([&m] { model::check(m.wakes.load(relaxed) <= 1, "woken once at most"); });
}

void give_up_body(model::test& t) {
    auto& m = t.make<meeting>();
    t.thread([&m] { m.finish(); });
    t.thread([&m] { m.wait_and_give_up(); });
    t.at_end([&m] {
        int const wakes = m.wakes.load(relaxed);
        model::check(wakes <= (m.given_up.load(relaxed) ? 0 : 1),
                     "nobody wakes a waiter that has gone");
    });
}

// The waiter sleeps; a timer on a third thread, or the end of the thread, wakes it. Then it joins
// again, without a deadline.
void timer_body(model::test& t) {
    auto& m = t.make<meeting>();
    t.thread([&m] { m.finish(); });
    t.thread([&m] {
        word_type w(m.word);
        m.frame.store(1);
        if (!w.is_done() && w.set_waiter(k_waiter)) m.sleep();
        if (w.is_done()) m.check_result();
    });
    t.thread([&m] {
        // Under the timers' lock in production.
        if (word_type(m.word).clear_waiter(k_waiter)) m.wakes.fetch_add(1, release);
    });
    t.at_end([&m] { model::check(m.wakes.load(relaxed) <= 1, "woken once at most"); });
}

// Reused for the next record in the same slot.
void reuse_body(model::test& t) {
    auto& m = t.make<meeting>();
    t.thread([&m] { m.finish(); });
    t.thread([&m] {
        m.wait();
        word_type(m.word).reset();
        model::check(!word_type(m.word).is_done(), "a word that was reset is not done");
    });
}

void expect_holds(char const* name, model::test_body const& body) {
    model::result const r = model::explore(name, exhaustive(), body);
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(join_word, one_finishes_one_waits) { expect_holds("join_word_join", join_body); }
TEST(join_word, waiter_gives_up) { expect_holds("join_word_give_up", give_up_body); }
TEST(join_word, timer_against_finish) { expect_holds("join_word_timer", timer_body); }
TEST(join_word, slot_is_used_again) { expect_holds("join_word_reuse", reuse_body); }

TEST(join_word, every_order_is_needed) {
    std::string survivors =
        model::survivors(model::weaken_each("join_word_weak", exhaustive(), join_body));
    EXPECT_EQ(survivors, "") << survivors;
}

} // namespace

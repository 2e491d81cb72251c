// SPDX-License-Identifier: Apache-2.0
//
// Answers that a thread waits for in its sleep: no lost wake-up (it would show as a deadlock), and
// what was done for an answer is seen.
#include "explorer/explore.hpp"
#include "messenger/open_answers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using namespace tulle;
using machine = model::machine;

constexpr std::size_t k_most = 3;

struct asked {
    explicit asked(std::uint32_t few) : open(few) {}

    messenger::basic_open_answers<machine> open;
    std::array<model::plain<int>, k_most> answers{};
    model::atomic<int> asked_more{0};

    void answer(std::size_t k) {
        answers.at(k).store(1);
        open.take_one();
    }
    void await_all(std::size_t count) {
        while (!open.none_is_open()) open.sleep_for_all(model::k_no_deadline);
        for (std::size_t k = 0; k < count; ++k)
            model::check(answers.at(k).load() == 1, "the answer is there");
    }
};

// Each is answered by a thread of its own.
model::test_body some_answer(std::size_t count, bool sleeps_for_room) {
    return [=](model::test& t) {
        auto& a = t.make<asked>(1U);
        for (std::size_t k = 0; k < count; ++k) a.open.add();
        for (std::size_t k = 0; k < count; ++k) t.thread([&a, k] { a.answer(k); });
        t.thread([=, &a] {
            if (sleeps_for_room) a.open.sleep_for_room(model::k_no_deadline);
            a.await_all(count);
        });
    };
}

TEST(open_answers, end_a_sleep) {
    for (bool const sleeps_for_room : {false, true}) {
        model::result const r =
            model::explore(sleeps_for_room ? "open_answers_room" : "open_answers_all",
                           model::exhaustive(3, 400000), some_answer(2, sleeps_for_room));
        EXPECT_TRUE(r.passed()) << r;
        EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
    }
}

TEST(open_answers, of_several_end_a_sleep) {
    model::result const r =
        model::explore("open_answers_several", model::random(20000), some_answer(k_most, true));
    EXPECT_TRUE(r.passed()) << r;
}

// Where there was no room before.
model::test_body ask_later() {
    return [](model::test& t) {
        auto& a = t.make<asked>(1U);
        for (std::size_t k = 0; k < 2; ++k) a.open.add();
        t.thread([&a] {
            a.answer(0);
            a.answer(1);
        });
        t.thread([&a] {
            a.open.sleep_for_room(model::k_no_deadline);
            a.open.add();
            a.asked_more.store(1, std::memory_order_release);
            a.await_all(k_most);
        });
        t.thread([&a] {
            while (a.asked_more.load(std::memory_order_acquire) == 0) machine::pause();
            a.answer(2);
        });
    };
}

TEST(open_answers, are_asked_for_while_others_come) {
    model::result const r =
        model::explore("open_answers_twice", model::exhaustive(2, 400000), ask_later());
    EXPECT_TRUE(r.passed()) << r;
    EXPECT_TRUE(r.is_as_complete_as_asked()) << r;
}

TEST(open_answers, every_order_is_needed) {
    auto const mutants =
        model::weaken_each("open_answers_weak", model::random(6000), some_answer(2, true));
    EXPECT_FALSE(mutants.empty());
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace

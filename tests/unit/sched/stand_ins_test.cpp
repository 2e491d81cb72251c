// SPDX-License-Identifier: Apache-2.0
//
// Workers that stand in for one that a thread blocks on purpose, with its number. That a number is
// used by one thread at a time is tested where programs see it: compat/qthread/numbers_test.cpp.
#include "sched/lent_number.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/worker_numbers.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

using namespace tulle;
using sched::lent_number;
using taken_back = lent_number::taken_back;

// Two workers would share its order.
TEST(lent_number, is_not_lent_in_a_deterministic_run) {
    set_option("seed", "1");
    set_option("max_workers", "3");
    initialize({.workers = 1});
    EXPECT_EQ(detail::lend_number(), -1);
    EXPECT_EQ(worker_count(), 1);
    finalize();
    set_option("seed", "off");
    set_option("max_workers", "auto");
}

TEST(lent_number, is_taken_back_at_once_while_nothing_runs) {
    lent_number lender(3), stand_in(7);
    EXPECT_FALSE(lender.is_lent());
    lender.lend_to(stand_in);
    EXPECT_TRUE(lender.is_lent());
    EXPECT_TRUE(stand_in.stands_in());
    EXPECT_EQ(lender.index_of_stand_in(), 7);
    EXPECT_EQ(stand_in.index_of_lender(), 3);
    EXPECT_EQ(stand_in.number(), -1);
    EXPECT_EQ(lender.take_back(), taken_back::at_once);
    EXPECT_FALSE(lender.is_lent());
    EXPECT_FALSE(stand_in.stands_in());
    stand_in.begin();
    EXPECT_EQ(stand_in.number(), -1);
}

TEST(lent_number, comes_back_when_what_runs_has_ended) {
    lent_number lender(3), stand_in(7);
    lender.lend_to(stand_in);
    stand_in.begin();
    EXPECT_EQ(stand_in.number(), 3);
    EXPECT_EQ(stand_in.end(), nullptr); // it is not wanted, and may begin again
    EXPECT_EQ(stand_in.number(), -1);
    stand_in.begin();
    EXPECT_EQ(lender.take_back(), taken_back::later);
    EXPECT_EQ(stand_in.number(), 3);
    EXPECT_TRUE(lender.is_lent());
    EXPECT_EQ(stand_in.end(), &lender);
    EXPECT_EQ(stand_in.number(), -1);
    EXPECT_FALSE(lender.is_lent());
    EXPECT_FALSE(stand_in.stands_in());
    EXPECT_EQ(stand_in.end(), nullptr);
}

TEST(lent_number, may_want_a_stand_in_that_is_not_there) {
    lent_number lender(3), stand_in(7);
    lender.want_stand_in();
    EXPECT_TRUE(lender.wants_stand_in());
    EXPECT_FALSE(lender.is_lent());
    EXPECT_EQ(lender.take_back(), taken_back::at_once);
    EXPECT_FALSE(lender.wants_stand_in());
    lender.want_stand_in();
    lender.lend_to(stand_in);
    EXPECT_FALSE(lender.wants_stand_in());
    EXPECT_TRUE(stand_in.stands_in());
}

class stand_ins : public ::testing::Test {
protected:
    static void start(int most) {
        set_option("max_substitutes", "off");
        set_option("max_workers", std::to_string(most));
        initialize({.workers = 1});
    }
    void TearDown() override {
        if (is_initialized()) finalize();
        set_option("max_workers", "auto");
        set_option("workers", "auto");
        set_option("max_substitutes", "64");
    }
    // While the caller blocks worker 0.
    static void expect_that_others_run() {
        int const lender = detail::lend_number();
        EXPECT_EQ(lender, 0);
        EXPECT_EQ(detail::lend_number(), -1); // twice
        EXPECT_EQ(detail::lent_number(), -1);
        std::atomic<bool> has_run{false};
        auto t = spawn([&has_run] {
            EXPECT_EQ(this_thread::worker_index(), 1);
            EXPECT_EQ(detail::lent_number(), 0);
            has_run = true;
        });
        while (!has_run) std::this_thread::yield();
        detail::take_number_back(lender);
        EXPECT_EQ(this_thread::worker_index(), 0);
        t.join();
        EXPECT_EQ(worker_count(), 1);
    }
};

TEST_F(stand_ins, have_the_number) {
    start(2);
    for (int round = 0; round < 20; ++round) expect_that_others_run();
    // The OS thread of one that nobody has needed for a second ends, and another one is made.
    while (!sched::scheduler::instance().workers()[1]->has_ended) std::this_thread::yield();
    expect_that_others_run();
}

TEST_F(stand_ins, there_are_none_where_there_may_be_no_more_workers) {
    start(1);
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(detail::lend_number(), 0);
        EXPECT_EQ(detail::lend_number(), -1); // twice
        EXPECT_EQ(detail::lent_number(), -1);
        detail::take_number_back(0);
    }
    EXPECT_EQ(spawn([] { return this_thread::worker_index(); }).join(), 0);
}

TEST_F(stand_ins, other_os_threads_have_none) {
    start(2);
    std::thread([] {
        EXPECT_EQ(detail::lend_number(), -1);
        EXPECT_EQ(detail::lent_number(), -1);
    }).join();
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The list of guests without a run time: the scheduler that they name is not started.
#include "sched/modes/guest_list.hpp"
#include "sched/scheduler.hpp"

#include <atomic>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

struct guest_list_test : ::testing::Test {
    guest& come() {
        guest* found = nullptr;
        EXPECT_TRUE(list.acquire(scheduler::instance(), true, [&found](guest& g) { found = &g; }));
        return *found;
    }
    [[nodiscard]] std::ptrdiff_t size() const { return std::distance(list.begin(), list.end()); }

    guest_list list;
};

TEST_F(guest_list_test, is_empty_at_first) {
    EXPECT_EQ(size(), 0);
    EXPECT_FALSE(list.leave_work());
    EXPECT_EQ(list.live_threads(), 0);
}

TEST_F(guest_list_test, those_that_have_left_are_used_again) {
    guest& first = come();
    guest& second = come();
    EXPECT_NE(&first, &second);
    list.release(first);
    list.release(second);
    EXPECT_EQ(size(), 2) << "thieves may still look at them";
    EXPECT_EQ(&come(), &second);
    EXPECT_EQ(&come(), &first);
    static_cast<void>(come());
    EXPECT_EQ(size(), 3);
}

TEST_F(guest_list_test, is_found_by_its_worker) {
    guest& first = come();
    guest& second = come();
    EXPECT_EQ(&list.find(first.remote()), &first);
    EXPECT_EQ(&list.find(second.remote()), &second);
    EXPECT_TRUE(first.remote().is_guest());
}

TEST_F(guest_list_test, local_numbers_are_odd_and_differ) {
    EXPECT_EQ(come().as_worker.local_number, 1U);
    EXPECT_EQ(come().as_worker.local_number, 3U);
    EXPECT_EQ(come().as_worker.local_number, 5U);
}

TEST_F(guest_list_test, counts_threads_over_all) {
    come().remote().threads_made.store(5);
    guest& second = come();
    second.remote().threads_made.store(2);
    second.remote().threads_ended.store(4); // it has ended what others have made
    EXPECT_EQ(list.live_threads(), 3);
}

TEST_F(guest_list_test, in_a_child_process_all_but_the_caller_are_free) {
    guest& caller = come();
    guest& other = come();
    caller.remote().threads_made.store(1);
    other.remote().threads_made.store(1);
    other.as_worker.free_record_count = 1;
    list.forget_all_but(&caller.remote());
    EXPECT_EQ(list.live_threads(), 0);
    EXPECT_EQ(other.as_worker.free_record_count, 0);
    EXPECT_EQ(&come(), &other);
    EXPECT_NE(&come(), &caller);
}

TEST_F(guest_list_test, readers_find_whole_guests_while_others_come_and_go) {
    std::atomic<bool> over{false};
    std::thread reader([&] {
        while (!over.load()) {
            for (guest& g : list) EXPECT_EQ(g.remote().index, -1);
        }
    });
    std::vector<std::thread> os_threads;
    for (int k = 0; k < 3; ++k) {
        os_threads.emplace_back([this] {
            for (int round = 0; round < 200; ++round) list.release(come());
        });
    }
    for (std::thread& t : os_threads) t.join();
    over.store(true);
    reader.join();
    EXPECT_LE(size(), 3);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "sched/stacks/shared_spares.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::sched;

struct numbered_spare : runnable {
    numbered_spare() : runnable(runnable_kind::fiber) {}
    std::atomic<int> owners{0};
};

struct shared_spares_test : ::testing::Test {
    std::array<numbered_spare, 8> spares;
    shared_spares shared;
    runnable_list own;
    int count = 0;

    void keep(std::size_t wanted) {
        for (; static_cast<std::size_t>(count) < wanted; ++count)
            own.push_back(spares[static_cast<std::size_t>(count)]);
    }
};

TEST_F(shared_spares_test, empty_gives_none) {
    EXPECT_EQ(shared.pop(), nullptr);
    EXPECT_EQ(shared.size_hint(), 0U);
}

TEST_F(shared_spares_test, takes_what_the_worker_has_above_its_share) {
    keep(5);
    shared.take_from(own, count, 2);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(shared.size_hint(), 3U);
    EXPECT_EQ(own.pop_front(), &spares[3]);
    EXPECT_EQ(own.pop_front(), &spares[4]);
    EXPECT_TRUE(own.empty());
}

TEST_F(shared_spares_test, takes_nothing_from_a_worker_that_has_its_share) {
    keep(2);
    shared.take_from(own, count, 2);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(shared.pop(), nullptr);
}

TEST_F(shared_spares_test, last_in_first_out) {
    keep(3);
    shared.take_from(own, count, 0);
    EXPECT_EQ(shared.pop(), &spares[2]);
    EXPECT_EQ(shared.pop(), &spares[1]);
    EXPECT_EQ(shared.pop(), &spares[0]);
    EXPECT_EQ(shared.pop(), nullptr);
    EXPECT_EQ(shared.size_hint(), 0U);
}

TEST_F(shared_spares_test, each_spare_has_one_owner_at_a_time) {
    keep(spares.size());
    shared.take_from(own, count, 0);
    std::atomic<int> errors{0};
    auto const worker = [this, &errors] {
        for (int round = 0; round < 2000; ++round) {
            auto* const mine = static_cast<numbered_spare*>(shared.pop());
            if (mine == nullptr) continue;
            if (mine->owners.fetch_add(1) != 0) errors.fetch_add(1);
            mine->owners.fetch_sub(1);
            runnable_list list;
            list.push_back(*mine);
            int one = 1;
            shared.take_from(list, one, 0);
        }
    };
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) threads.emplace_back(worker);
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(errors.load(), 0);
    EXPECT_EQ(shared.size_hint(), spares.size());
}

} // namespace

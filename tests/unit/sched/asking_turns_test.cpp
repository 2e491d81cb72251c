// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/asking_turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tulle::sched {
namespace {

// How often each of so many workers has been asked of in so many rounds, and of how many at most in
// one of them, of those for which no file is kept.
struct rounds {
    std::vector<int> asked;
    std::size_t most = 0;

    rounds(std::size_t workers, int count, bool are_in_kernel) : asked(workers) {
        asking_turns turns;
        for (int k = 0; k != count; ++k) {
            std::size_t opened = 0;
            turns.begin_round(workers);
            for (std::size_t n = 0; n != workers; ++n) {
                std::size_t const index = turns.worker_at(n, workers);
                if (!turns.may_open(index, are_in_kernel)) continue;
                ++asked[index];
                if (index >= asking_turns::k_most_kept) ++opened;
            }
            most = std::max(most, opened);
        }
    }
    [[nodiscard]] int least() const { return *std::min_element(asked.begin(), asked.end()); }
};

TEST(asking_turns, few_workers_are_asked_of_in_each_round) {
    rounds const all(60, 100, false);
    EXPECT_EQ(all.least(), 100);
}

TEST(asking_turns, of_many_a_limited_number_in_each_round) {
    rounds const all(2048, 1000, false);
    EXPECT_EQ(all.most, asking_turns::k_most_new);
}

TEST(asking_turns, each_comes_to_its_turn) {
    for (std::size_t const workers : {100U, 101U, 640U, 2048U, 2049U}) {
        rounds const all(workers, 400, false);
        EXPECT_GE(all.least(), 1) << workers;
    }
}

TEST(asking_turns, who_is_in_the_kernel_is_asked_of_seldom) {
    rounds const few(64, 160, true);
    EXPECT_EQ(*std::max_element(few.asked.begin() + asking_turns::k_most_kept, few.asked.end()),
              10);
    EXPECT_EQ(few.least(), 10);
    rounds const many(2048, 1024, true);
    EXPECT_LE(many.most, asking_turns::k_most_again);
    EXPECT_GE(many.least(), 1);
}

TEST(asking_turns, there_may_be_no_workers) {
    asking_turns turns;
    turns.begin_round(0);
    EXPECT_TRUE(turns.may_open(0, false));
}

} // namespace
} // namespace tulle::sched

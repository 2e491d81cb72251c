// SPDX-License-Identifier: Apache-2.0
#include "loopback_places.hpp"

#include <tulle/atomic_block.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace {

class atomic_block_test : started, public testing::Test {};

TEST_F(atomic_block_test, blocks_of_a_place_exclude_each_other) {
    long count = 0;
    tulle::finish([&count](tulle::activities& all) {
        for (int k = 0; k < 8; ++k)
            all.async([&count] {
                for (int i = 0; i < 1000; ++i)
                    tulle::atomically([&count] {
                        long const before = count;
                        if (before % 64 == 0) tulle::this_thread::yield(); // still alone
                        count = before + 1;
                    });
            });
    });
    EXPECT_EQ(count, 8000);
}

TEST_F(atomic_block_test, when_waits_for_its_condition) {
    std::vector<int> buffer; // at most two
    std::vector<int> taken;
    tulle::finish([&](tulle::activities& all) {
        all.async([&] {
            for (int k = 0; k < 100; ++k)
                tulle::when([&] { return buffer.size() < 2; }, [&] { buffer.push_back(k); });
        });
        all.async([&] {
            for (int k = 0; k < 100; ++k)
                taken.push_back(tulle::when([&] { return !buffer.empty(); },
                                            [&] {
                                                EXPECT_LE(buffer.size(), 2U);
                                                int const first = buffer.front();
                                                buffer.erase(buffer.begin());
                                                return first;
                                            }));
        });
    });
    for (int k = 0; k < 100; ++k) EXPECT_EQ(taken[static_cast<std::size_t>(k)], k);
}

TEST_F(atomic_block_test, one_that_throws_lets_the_others_go_on) {
    EXPECT_THROW(tulle::atomically([] { throw std::domain_error("in the block"); }),
                 std::domain_error);
    EXPECT_EQ(tulle::atomically([] { return 3; }), 3);
}

// If they shared a lock, the call would wait for ever: a block here is held until the block there
// has run.
TEST_F(atomic_block_test, places_do_not_hold_each_other_up) {
    loopback_places const two(2);
    int const there = tulle::atomically([] {
        return tulle::at(tulle::place(1), [] { return tulle::atomically([] { return 4; }); });
    });
    EXPECT_EQ(there, 4);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "races/granule.hpp"

#include "base/atomic.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tulle::races {
namespace {

class granule : public testing::Test {
protected:
    // The places of the accesses that it is in conflict with; `known`: of all processes.
    std::vector<site> record(access const& a, epoch known = 0, unsigned chance = 0) {
        std::vector<site> found;
        m_granule.record(
            cell(a), chance, [&](process_number p) { return p == a.process ? a.when : known; },
            [&](cell other) { found.push_back(other.where()); });
        return found;
    }
    using sites = std::vector<site>;

private:
    basic_granule<base::machine> m_granule;
};

access store(process_number p, epoch when, site where) {
    return {p, when, 0, 7, true, false, where};
}
access load(process_number p, epoch when, site where) {
    return {p, when, 0, 7, false, false, where};
}

TEST_F(granule, finds_what_is_not_ordered) {
    EXPECT_EQ(record(store(0, 3, 10)), sites{});
    EXPECT_EQ(record(load(1, 1, 11), 2), sites{10});
    EXPECT_EQ(record(store(2, 1, 12), 2), (sites{10}));
}

TEST_F(granule, leaves_what_is_ordered) {
    EXPECT_EQ(record(store(0, 3, 10)), sites{});
    EXPECT_EQ(record(load(1, 1, 11), 3), sites{});
    EXPECT_EQ(record(store(2, 1, 12), 3), sites{});
}

TEST_F(granule, tells_one_process_once_in_an_epoch) {
    EXPECT_EQ(record(store(0, 1, 10)), sites{});
    EXPECT_EQ(record(store(1, 1, 11)), sites{10});
    EXPECT_EQ(record(load(1, 1, 12)), sites{}) << "the store tells all that this would";
    EXPECT_EQ(record(store(1, 2, 13)), sites{10}) << "another epoch";
}

TEST_F(granule, forgets_nothing_for_what_comes_after_it) {
    // A long history that is ordered leaves room for what counts.
    for (epoch k = 1; k < 50; ++k) record(store(k % 2, k, k), k);
    EXPECT_EQ(record(load(7, 1, 60), 48), sites{49});
}

TEST_F(granule, keeps_parts_of_a_word_apart) {
    for (std::uint32_t k = 0; k < basic_granule<base::machine>::k_cells; ++k) {
        access a = store(k, 1, k + 1);
        a.first = a.last = 2 * k;
        EXPECT_EQ(record(a), sites{});
    }
    access between = store(9, 1, 20);
    between.first = between.last = 5;
    EXPECT_EQ(record(between, 0, 3), sites{});
    access wide = load(8, 1, 30);
    wide.last = 2;
    EXPECT_EQ(record(wide), (sites{1, 2}));
}

} // namespace
} // namespace tulle::races

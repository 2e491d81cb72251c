// SPDX-License-Identifier: Apache-2.0
//
// What owner and thief get from a range, one after the other. What happens when they meet:
// tests/model/loop_test.cpp.
#include "loop/loop_range.hpp"
#include "os/machine.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace tulle::loop;
using range = loop_range<tulle::os::machine>;

// As a participant does: `count` at a time.
iterations begin_next(range& r, std::uint64_t count) {
    std::uint64_t const first = r.begun();
    return {first, r.take(first, count) ? first + count : r.take_cold(first, count)};
}
std::vector<std::uint64_t> drain(range& r, std::uint64_t count) {
    std::vector<std::uint64_t> taken;
    for (iterations i = begin_next(r, count); !i.empty(); i = begin_next(r, count))
        for (std::uint64_t k = i.begin; k != i.end; ++k) taken.push_back(k);
    return taken;
}
iterations steal(range& r, steal_effort effort) {
    return r.try_pin() ? r.steal(effort) : iterations{};
}

class loop_range_test : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(asymmetric, loop_range_test, ::testing::Bool(),
                         [](auto const& test) { return test.param ? "with_fence" : "without"; });

TEST_P(loop_range_test, the_owner_takes_all_in_order) {
    for (std::uint64_t n = 0; n < 40; ++n) {
        for (std::uint64_t const count : {1U, 2U, 3U, 7U, 100U}) {
            range r(GetParam());
            r.open({10, 10 + n});
            std::vector<std::uint64_t> const taken = drain(r, count);
            ASSERT_EQ(taken.size(), n);
            for (std::uint64_t k = 0; k < n; ++k) ASSERT_EQ(taken[k], 10 + k);
            EXPECT_EQ(r.size_hint(), 0U);
        }
    }
}

TEST_P(loop_range_test, a_thief_takes_the_upper_half) {
    range r(GetParam());
    r.open({0, 100});
    iterations const half = steal(r, steal_effort::shared_only);
    EXPECT_EQ(half.begin, 50U);
    EXPECT_EQ(half.end, 100U);
    EXPECT_EQ(drain(r, 3).size(), 50U);
}

TEST_P(loop_range_test, thieves_take_all_but_what_has_begun) {
    range r(GetParam());
    r.open({0, 100});
    ASSERT_EQ(begin_next(r, 4).end, 4U);
    std::uint64_t stolen = 0;
    std::uint64_t end = 100;
    for (iterations got = steal(r, steal_effort::with_fence); !got.empty();
         got = steal(r, steal_effort::with_fence)) {
        EXPECT_EQ(got.end, end);
        end = got.begin;
        stolen += got.end - got.begin;
    }
    EXPECT_EQ(stolen, 96U);
    EXPECT_TRUE(drain(r, 4).empty());
    EXPECT_EQ(r.size_hint(), 0U);
}

TEST_P(loop_range_test, a_closed_range_gives_nothing) {
    range r(GetParam());
    r.open({5, 50});
    EXPECT_EQ(begin_next(r, 2).end, 7U);
    r.close();
    EXPECT_TRUE(steal(r, steal_effort::with_fence).empty());
    EXPECT_TRUE(begin_next(r, 2).empty());
    r.open({50, 52});
    EXPECT_EQ(drain(r, 1).size(), 2U);
}

TEST_P(loop_range_test, a_pinned_range_is_left_alone) {
    range r(GetParam());
    r.open({0, 10});
    ASSERT_TRUE(r.try_pin());
    EXPECT_FALSE(r.try_pin());
    EXPECT_EQ(r.steal(steal_effort::shared_only).begin, 5U);
    EXPECT_TRUE(r.try_pin());
    static_cast<void>(r.steal(steal_effort::shared_only));
}

TEST(loop_range, what_the_owner_has_made_its_own_takes_a_fence) {
    range r(true);
    r.open({0, 100});
    ASSERT_EQ(r.take_cold(0, 1, 1000), 1U);
    EXPECT_EQ(r.shared_hint(), 50U); // never more than half
    ASSERT_EQ(steal(r, steal_effort::shared_only).begin, 50U);
    EXPECT_TRUE(steal(r, steal_effort::shared_only).empty());
    EXPECT_EQ(steal(r, steal_effort::with_fence).begin, 25U);
    EXPECT_EQ(drain(r, 1).size(), 24U);
}

TEST(loop_range, without_a_fence_all_that_has_not_begun_is_shared) {
    range r(false);
    r.open({0, 8});
    ASSERT_EQ(begin_next(r, 2).end, 2U);
    EXPECT_EQ(r.shared_hint(), 6U);
}

} // namespace

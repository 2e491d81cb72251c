// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_wheel.hpp"

#include "base/rng.hpp"
#include "runtime_fixture.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using wait::k_never;
using wait::timer;
using wait::timer_order;
using wait::timer_wheel;

constexpr std::uint32_t k_many = 1'000'000;                        // steps
constexpr std::uint64_t k_width_of_slot = std::uint64_t{1} << 18U; // of the widest that fires whole

class timer_wheel_test : public ::testing::Test {
protected:
    void SetUp() override { s_fired = &m_fired; }

    void insert(timer& t, std::uint64_t deadline) {
        t.deadline = deadline;
        t.fire = [](timer& fired) noexcept { s_fired->push_back(&fired); };
        m_wheel.insert(t);
    }
    // All at `now`, a bounded number of steps at a time.
    void expire_all(std::uint64_t now, std::uint32_t steps) {
        while (m_wheel.next_deadline() <= now) m_wheel.expire(now, steps);
    }

    timer_wheel m_wheel;
    std::vector<timer*> m_fired;
    static inline std::vector<timer*>* s_fired = nullptr;
};

TEST_F(timer_wheel_test, empty_wheel_never_expires) {
    EXPECT_EQ(m_wheel.next_deadline(), k_never);
    EXPECT_EQ(m_wheel.expire(k_never - 1, k_many), 0U);
}

TEST_F(timer_wheel_test, fires_in_order_not_before_the_deadline) {
    std::vector<std::uint64_t> const deadlines{5,
                                               64,
                                               65,
                                               4095,
                                               4096,
                                               1U << 18U,
                                               (1U << 18U) + 1,
                                               1U << 30U,
                                               std::uint64_t{1} << 60U,
                                               k_never - 1};
    std::vector<timer> timers(deadlines.size());
    for (std::size_t k = timers.size(); k > 0; --k) insert(timers[k - 1], deadlines[k - 1]);
    for (std::size_t k = 0; k < timers.size(); ++k) {
        EXPECT_EQ(m_wheel.next_deadline(), deadlines[k]);
        expire_all(deadlines[k] - 1, k_many);
        EXPECT_EQ(m_fired.size(), k);
        expire_all(deadlines[k], k_many);
        ASSERT_EQ(m_fired.size(), k + 1);
        EXPECT_EQ(m_fired.back(), &timers[k]);
        EXPECT_FALSE(timers[k].queued);
    }
    EXPECT_EQ(m_wheel.next_deadline(), k_never);
}

TEST_F(timer_wheel_test, a_deadline_that_has_passed_is_due) {
    timer first, late;
    insert(first, 1'000'000);
    expire_all(1'000'000, k_many);
    insert(late, 10);
    EXPECT_LE(m_wheel.next_deadline(), 1'000'000U);
    EXPECT_EQ(m_wheel.expire(1'000'000, k_many), 1U);
    EXPECT_EQ(m_fired.back(), &late);
}

TEST_F(timer_wheel_test, makes_a_bounded_number_of_steps) {
    std::vector<timer> timers(1000);
    for (std::size_t k = 0; k < timers.size(); ++k)
        insert(timers[k], (std::uint64_t{1} << 40U) + k);
    std::size_t fired = 0;
    std::uint64_t const now = (std::uint64_t{1} << 40U) + 2000;
    for (int calls = 0; m_wheel.next_deadline() <= now; ++calls) {
        std::size_t const by_call = m_wheel.expire(now, 16);
        EXPECT_LE(by_call, 16U);
        fired += by_call;
        ASSERT_LT(calls, 1000)
            << "each makes 16 steps, and none needs more than one for each of 11 levels";
    }
    EXPECT_EQ(fired, timers.size());
}

TEST_F(timer_wheel_test, removes_from_a_slot_that_is_half_expired) {
    std::vector<timer> timers(100);
    for (timer& t : timers) insert(t, std::uint64_t{1} << 40U);
    EXPECT_LE(m_wheel.expire(std::uint64_t{1} << 40U, 150), 100U);
    for (timer& t : timers)
        if (t.queued) m_wheel.remove(t);
    EXPECT_EQ(m_wheel.next_deadline(), k_never);
    timer other;
    insert(other, (std::uint64_t{1} << 40U) + 1);
    EXPECT_EQ(m_wheel.next_deadline(), other.deadline);
}

TEST_F(timer_wheel_test, time_may_start_again) {
    constexpr std::uint64_t k_hour = 3'600'000'000'000;
    timer kept, passed, early;
    insert(passed, 5 * k_hour);
    insert(kept, 6 * k_hour);
    expire_all(5 * k_hour, k_many);
    m_wheel.start_at(k_hour, timer_order::any);
    insert(early, 2 * k_hour);
    EXPECT_EQ(m_wheel.next_deadline(), 2 * k_hour);
    expire_all(2 * k_hour, k_many);
    EXPECT_EQ(m_fired, (std::vector<timer*>{&passed, &early}));
    expire_all(6 * k_hour - 1, k_many);
    EXPECT_EQ(m_fired.size(), 2U);
    expire_all(6 * k_hour, k_many);
    EXPECT_EQ(m_fired.back(), &kept);
}

TEST_F(timer_wheel_test, clear_forgets_all) {
    std::vector<timer> timers(100);
    for (std::size_t k = 0; k < timers.size(); ++k) insert(timers[k], 50 * k * k * k);
    m_wheel.expire(5000, 3);
    m_wheel.clear();
    EXPECT_EQ(m_wheel.next_deadline(), k_never);
    EXPECT_TRUE(
        std::none_of(timers.begin(), timers.end(), [](timer const& t) { return t.queued; }));
    insert(timers[7], 9999);
    EXPECT_EQ(m_wheel.next_deadline(), 9999U);
}

struct few_or_many {
    char const* name;
    std::size_t timers;
    std::uint64_t most_ahead;
};

class against_a_set : public timer_wheel_test, public ::testing::WithParamInterface<few_or_many> {};

// Whatever is inserted, removed and expired, in pieces: nothing fires early, nothing is left over,
// and the hint is never late.
TEST_P(against_a_set, agrees) {
    base::rng random(test_seed());
    std::vector<timer> timers(GetParam().timers);
    std::multiset<std::uint64_t> expected;
    std::uint64_t now = 1;
    for (int step = 0; step < 50'000; ++step) {
        timer& t = timers[random.below(static_cast<std::uint32_t>(timers.size()))];
        if (!t.queued) {
            insert(t, now + random.next() % GetParam().most_ahead);
            expected.insert(t.deadline);
        } else if (random.below(4) == 0) {
            m_wheel.remove(t);
            expected.erase(expected.find(t.deadline));
        } else {
            now += random.next() % (GetParam().most_ahead / 8 + 1);
            m_fired.clear();
            expire_all(now, 1 + random.below(20));
            std::uint64_t latest = 0;
            for (timer const* fired : m_fired) {
                ASSERT_LE(fired->deadline, now);
                ASSERT_GE(fired->deadline + k_width_of_slot, latest);
                latest = std::max(latest, fired->deadline);
                expected.erase(expected.find(fired->deadline));
            }
            ASSERT_TRUE(expected.empty() || *expected.begin() > now);
        }
        std::uint64_t const first = expected.empty() ? k_never : *expected.begin();
        if (timers.size() <= 4 || expected.empty())
            ASSERT_EQ(m_wheel.next_deadline(), first);
        else
            ASSERT_LE(m_wheel.next_deadline(), first);
    }
}

INSTANTIATE_TEST_SUITE_P(random, against_a_set,
                         ::testing::Values(few_or_many{"few", 4, 1'000'000'000},
                                           few_or_many{"many", 300, 1'000'000'000},
                                           few_or_many{"close", 300, 500},
                                           few_or_many{"far", 300, std::uint64_t{1} << 46U}),
                         [](auto const& p) { return p.param.name; });

} // namespace

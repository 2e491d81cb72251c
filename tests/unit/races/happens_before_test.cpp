// SPDX-License-Identifier: Apache-2.0
#include "races/happens_before.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace tulle::races {
namespace {

constexpr process_number k_all = 3;
constexpr object_key k_object = 0x1000;
constexpr object_key k_other = 0x2000;

class happens_before_test : public testing::Test {
protected:
    happens_before_test()
        : m_zeros(static_cast<std::byte*>(std::calloc(1, happens_before::bytes(k_all))),
                  &std::free),
          order(m_zeros.get(), k_all) {
        for (process_number p = 0; p < k_all; ++p) order.begin(p);
    }

private:
    std::unique_ptr<std::byte, decltype(&std::free)> m_zeros;

protected:
    [[nodiscard]] epoch now(process_number p) const { return order.known_to(p)[p]; }
    // Whether what `p` did up to now, before this call, is ordered before what q does.
    [[nodiscard]] bool knows(process_number q, process_number p, epoch when) const {
        return order.known_to(q)[p] >= when;
    }

    happens_before order;
};

TEST_F(happens_before_test, nobody_knows_of_anybody_at_first) {
    EXPECT_EQ(now(0), 1U);
    EXPECT_FALSE(knows(1, 0, now(0)));
}

TEST_F(happens_before_test, who_acquires_knows_what_was_released) {
    epoch const before = now(0);
    order.release(k_object, 0);
    EXPECT_GT(now(0), before);
    order.acquire(k_other, 1);
    EXPECT_FALSE(knows(1, 0, before)) << "another object";
    order.acquire(k_object, 1);
    EXPECT_TRUE(knows(1, 0, before));
    EXPECT_FALSE(knows(1, 0, now(0))) << "what comes after the release";
    order.release(k_other, 1);
    order.acquire(k_other, 2);
    EXPECT_TRUE(knows(2, 0, before)) << "by way of another process";
}

TEST_F(happens_before_test, releases_add_up_unless_they_replace) {
    epoch const first = now(0);
    order.release(k_object, 0);
    epoch const second = now(1);
    order.release(k_object, 1);
    order.acquire(k_object, 2);
    EXPECT_TRUE(knows(2, 0, first) && knows(2, 1, second));
    order.replace(k_other, 0);
    epoch const third = now(1);
    order.replace(k_other, 1);
    order.begin(2);
    order.acquire(k_other, 2);
    EXPECT_TRUE(knows(2, 1, third));
    EXPECT_FALSE(knows(2, 0, first));
}

TEST_F(happens_before_test, one_that_wakes_another_hands_on_what_it_knows) {
    epoch const before = now(0);
    order.hand(0, 1);
    EXPECT_TRUE(knows(1, 0, before));
    EXPECT_FALSE(knows(1, 0, now(0)));
}

TEST_F(happens_before_test, a_process_that_begins_is_later_than_the_one_before_it) {
    order.release(k_object, 1);
    order.acquire(k_object, 0);
    epoch const before = now(0);
    order.begin(0);
    EXPECT_GT(now(0), before);
    EXPECT_FALSE(knows(0, 1, 1));
}

// Stores and loads of an atomic variable.
class atomics : public happens_before_test {
protected:
    void store(process_number p, int how) {
        order.access_atomically(k_object, p, {how, false, true}, [] { return true; });
    }
    void load(process_number p, int how) {
        order.access_atomically(k_object, p, {how, true, false}, [] { return false; });
    }
    void change(process_number p, int how) {
        order.access_atomically(k_object, p, {how, true, false}, [] { return true; });
    }
};

TEST_F(atomics, order_by_release_and_acquire_only) {
    epoch const before = now(0);
    store(0, __ATOMIC_RELEASE);
    load(1, __ATOMIC_RELAXED);
    EXPECT_FALSE(knows(1, 0, before));
    load(1, __ATOMIC_ACQUIRE);
    EXPECT_TRUE(knows(1, 0, before));
    store(0, __ATOMIC_RELAXED);
    load(2, __ATOMIC_SEQ_CST);
    EXPECT_FALSE(knows(2, 0, before)) << "a plain store ends what another one began";
}

TEST_F(atomics, changes_go_on_with_what_a_release_began) {
    epoch const before = now(0);
    store(0, __ATOMIC_RELEASE);
    change(1, __ATOMIC_RELAXED);
    load(2, __ATOMIC_ACQUIRE);
    EXPECT_TRUE(knows(2, 0, before));
    EXPECT_FALSE(knows(1, 0, before));
}

TEST_F(atomics, are_ordered_by_fences_beside_them) {
    epoch const before = now(0);
    order.release_fence(0);
    epoch const behind = now(0);
    store(0, __ATOMIC_RELAXED);
    load(1, __ATOMIC_RELAXED);
    order.acquire_fence(1);
    EXPECT_TRUE(knows(1, 0, before));
    EXPECT_FALSE(knows(1, 0, behind)) << "between the fence and the store";
    order.acquire_fence(2);
    EXPECT_FALSE(knows(2, 0, before)) << "a fence without a load";
}

// Far more objects than there are clocks for: some share one, and nothing is lost.
TEST_F(happens_before_test, orders_by_more_objects_than_it_has_clocks) {
    constexpr object_key k_objects = 200'000;
    for (object_key k = 1; k <= k_objects; ++k) order.release(k * 64, 0);
    epoch const before = now(0);
    for (object_key k = 1; k <= k_objects; k += 997) {
        epoch const each = now(0);
        order.replace(k * 64, 0);
        order.begin(1);
        order.acquire(k * 64, 1);
        ASSERT_TRUE(knows(1, 0, each)) << k;
    }
    EXPECT_GT(now(0), before);
}

} // namespace
} // namespace tulle::races

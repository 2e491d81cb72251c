// SPDX-License-Identifier: Apache-2.0
// Where a lock in two levels stays, by the order in which machines take it.
#include "base/atomic.hpp"
#include "os/machine.hpp"
#include "sync/machine_lock.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using namespace tulle::sync;

struct entry {
    template <class T> using plain = os::machine::plain<T>;

    plain<entry*> after{nullptr};
    int machine = 0;
    plain<bool> stays{false};
    plain<bool> is_wanted{false};
};
using home = lock_home<os::machine, entry>;

constexpr int k_much = 1000; // a threshold that contention does not reach

stay take(home& h, int machine, bool may_pay = true) {
    entry own;
    own.machine = machine;
    auto const got = h.take(own, false, k_much, may_pay);
    EXPECT_TRUE(got.is_granted);
    return got.how;
}
stay take_and_release(home& h, int machine, bool may_pay = true) {
    stay const how = take(h, machine, may_pay);
    EXPECT_EQ(h.release(left::goes_home), nullptr);
    return how;
}

TEST(lock_home, a_lock_that_one_machine_takes_again_and_again_stays_there) {
    home h;
    for (int k = 1; k < k_often; ++k) EXPECT_EQ(take_and_release(h, 5), stay::once) << k;
    EXPECT_EQ(take(h, 5), stay::until_wanted);
}

TEST(lock_home, others_between_begin_the_count_anew) {
    home h;
    for (int k = 0; k < 3 * k_often; ++k) EXPECT_EQ(take_and_release(h, k % 2), stay::once) << k;
}

TEST(lock_home, after_a_stay_in_vain_it_goes_home_again) {
    home h;
    for (int k = 1; k < k_often; ++k) static_cast<void>(take_and_release(h, 5));
    ASSERT_EQ(take(h, 5), stay::until_wanted);
    EXPECT_EQ(h.release(left::goes_home_in_vain), nullptr);
    EXPECT_EQ(take_and_release(h, 6), stay::once);
}

TEST(lock_home, where_a_recall_takes_long_it_does_not_stay_for_that) {
    home h;
    for (int k = 0; k < 3 * k_often; ++k) EXPECT_EQ(take_and_release(h, 5, false), stay::once) << k;
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Where a lock in two levels stays, by the order in which machines take it, and how long.
#include "base/atomic.hpp"
#include "base/spin_lock.hpp"
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

// --- the share of a machine

// Who waits for it does what the test says, and then it is too late.
struct local_lock : base::basic_spin_lock<os::machine> {
    template <class F> [[nodiscard]] bool lock_until(F const& meanwhile) {
        meanwhile();
        return false;
    }
};
using share = lock_share<os::machine, local_lock>;

constexpr int k_any_turns = 100;

// What becomes of the lock when the one who waits has come too late.
template <class F> left while_one_waits(share& s, F f) {
    bool was_taken = false;
    entered const got = s.enter_until(f, was_taken);
    EXPECT_TRUE(was_taken);
    EXPECT_FALSE(got.has_share);
    return got.otherwise;
}
// Neither waits, whatever is wrong.
void fetch(share& s, bool is_wanted) {
    ASSERT_TRUE(s.try_enter());
    ASSERT_FALSE(s.is_found_here());
    s.arrive(stay::until_wanted, is_wanted);
}
void take_here(share& s) {
    ASSERT_TRUE(s.try_enter());
    EXPECT_TRUE(s.is_found_here());
}

TEST(lock_share, each_time_that_it_is_wanted_a_machine_has_all_its_turns) {
    constexpr int k_most = 3;
    share s;
    for (int times = 0; times < 3; ++times) {
        fetch(s, true);
        while_one_waits(s, [&s] {
            for (int turn = 1; turn < k_most; ++turn) {
                EXPECT_EQ(s.unlock(k_most), left::stays) << turn;
                take_here(s);
            }
            EXPECT_TRUE(goes_home(s.unlock(k_most)));
        });
        EXPECT_FALSE(s.is_held_here());
    }
}

TEST(lock_share, who_comes_too_late_says_that_it_stayed_in_vain) {
    share s;
    fetch(s, false);
    EXPECT_EQ(while_one_waits(s,
                              [&s] {
                                  EXPECT_EQ(s.recall(), left::stays);
                                  EXPECT_EQ(s.unlock(k_any_turns), left::stays);
                              }),
              left::goes_home_in_vain);
    EXPECT_FALSE(s.is_held_here());
}

TEST(lock_share, who_comes_too_late_says_that_it_was_taken_often) {
    share s;
    fetch(s, false);
    for (int k = 1; k < k_often; ++k) {
        EXPECT_EQ(s.unlock(k_any_turns), left::stays);
        take_here(s);
    }
    EXPECT_EQ(while_one_waits(s,
                              [&s] {
                                  EXPECT_EQ(s.recall(), left::stays);
                                  EXPECT_EQ(s.unlock(k_any_turns), left::stays);
                              }),
              left::goes_home);
}

// The lock is another one's, who looks after it.
TEST(lock_share, who_comes_too_late_while_it_is_locked_leaves_it_there) {
    share s;
    fetch(s, true);
    EXPECT_EQ(while_one_waits(s, [] {}), left::stays);
    EXPECT_TRUE(s.is_held_here());
    EXPECT_EQ(s.unlock(k_any_turns), left::goes_home);
}

} // namespace

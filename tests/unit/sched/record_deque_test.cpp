// SPDX-License-Identifier: Apache-2.0
#include "arch/fiber_annotations.hpp"
#include "memory_probe.hpp"
#include "os/membarrier.hpp"
#include "sched/records/record_deque.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using namespace tulle::sched;

void fork_into(record_deque& deque) { static_cast<void>(deque.publish(deque.top())); }

struct record_deque_test : ::testing::Test {
    bool asymmetric = os::membarrier_register();
    deque_pool pool{os::system_memory()};
};

TEST_F(record_deque_test, each_level_holds_more) {
    std::size_t last = 0;
    for (std::uint8_t level = 0; level < deque_pool::k_levels; ++level) {
        record_deque* const d = pool.allocate(level, asymmetric);
        ASSERT_NE(d, nullptr);
        EXPECT_EQ(d->level, level);
        EXPECT_TRUE(d->is_empty());
        EXPECT_GT(d->capacity(), 50 * last);
        EXPECT_LE(reinterpret_cast<std::byte*>(d->base() + d->capacity() + 1),
                  reinterpret_cast<std::byte*>(d) + deque_pool::bytes(level));
        last = d->capacity();
    }
    EXPECT_GT(last, 10'000'000U);
}

TEST_F(record_deque_test, deques_do_not_overlap) {
    std::vector<record_deque*> deques;
    for (int k = 0; k < 600; ++k) { // more than a slab
        deques.push_back(pool.allocate(0, asymmetric));
        ASSERT_NE(deques.back(), nullptr);
    }
    std::sort(deques.begin(), deques.end());
    for (std::size_t k = 1; k < deques.size(); ++k) {
        ASSERT_GE(reinterpret_cast<std::byte*>(deques[k]),
                  reinterpret_cast<std::byte*>(deques[k - 1]) + deque_pool::bytes(0));
    }
}

TEST_F(record_deque_test, released_deque_is_used_again) {
    record_deque* const first = pool.allocate(0, asymmetric);
    pool.release(*first);
    EXPECT_EQ(pool.allocate(0, asymmetric), first);
}

#if !defined(TULLE_ANNOTATE_THREAD) &&                                                             \
    !defined(TULLE_ANNOTATE_ADDRESS) // their shadow memory is resident, too
TEST_F(record_deque_test, large_deque_gives_its_pages_back) {
    record_deque* const large = pool.allocate(1, asymmetric);
    std::size_t const before = resident_bytes();
    for (std::size_t k = 0; k < large->capacity(); ++k) large->base()[k].run = nullptr;
    EXPECT_GE(resident_bytes(), before + large->capacity() * sizeof(record) / 2);
    pool.release(*large);
    pool.trim();
    EXPECT_LT(resident_bytes(), before + large->capacity() * sizeof(record) / 2);
}

#endif

TEST_F(record_deque_test, memory_runs_out_without_harm) {
    static os::memory_calls refusing = os::system_memory();
    refusing.reserve = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; };
    deque_pool empty{refusing};
    EXPECT_EQ(empty.allocate(0, asymmetric), nullptr);
    EXPECT_EQ(empty.allocate(2, asymmetric), nullptr);
}

TEST_F(record_deque_test, small_deques_are_made_singly_where_there_is_little_memory) {
    static os::memory_calls poor = os::system_memory();
    poor.reserve = [](std::size_t bytes, std::size_t alignment) noexcept {
        return bytes > 2 * deque_pool::bytes(0) ? nullptr
                                                : os::system_memory().reserve(bytes, alignment);
    };
    deque_pool small{poor};
    record_deque* const one = small.allocate(0, asymmetric);
    record_deque* const two = small.allocate(0, asymmetric);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    EXPECT_NE(one, two);
    EXPECT_EQ(small.allocate(1, asymmetric), nullptr);
}

TEST_F(record_deque_test, parked_deques_are_robbed_in_turn) {
    if (!asymmetric) GTEST_SKIP() << "no membarrier";
    parked_deques parked;
    record_deque* from = nullptr;
    record_deque* const one = pool.allocate(0, true);
    record_deque* const two = pool.allocate(0, true);
    for (int k = 0; k < 2; ++k) fork_into(*one), fork_into(*two);
    parked.add(*one);
    parked.add(*one); // once is enough
    parked.add(*two);
    EXPECT_TRUE(parked.has_stealable());
    EXPECT_EQ(parked.steal(from), one->base());
    EXPECT_EQ(from, one);
    EXPECT_EQ(parked.steal(from), two->base());
    EXPECT_EQ(from, two);
    EXPECT_EQ(parked.steal(from), one->base() + 1);
    EXPECT_EQ(parked.steal(from), two->base() + 1);
    EXPECT_FALSE(parked.has_stealable());
    EXPECT_EQ(parked.steal(from), nullptr);
    EXPECT_TRUE(parked.looks_empty()); // empty ones have left the list
}

TEST_F(record_deque_test, parked_deque_may_be_listed_again) {
    if (!asymmetric) GTEST_SKIP() << "no membarrier";
    parked_deques parked;
    record_deque* from = nullptr;
    record_deque* const one = pool.allocate(0, true);
    for (int k = 0; k < 3; ++k) {
        fork_into(*one);
        parked.add(*one);
        EXPECT_EQ(parked.steal(from), one->base() + k);
        EXPECT_EQ(parked.steal(from), nullptr);
    }
}

TEST_F(record_deque_test, deque_that_its_stack_gives_up_leaves_the_list) {
    if (!asymmetric) GTEST_SKIP() << "no membarrier";
    parked_deques parked;
    record_deque* from = nullptr;
    record_deque* const all[] = {pool.allocate(0, true), pool.allocate(0, true),
                                 pool.allocate(0, true)};
    for (record_deque* const d : all) fork_into(*d), parked.add(*d);
    parked.remove(*all[1]);
    parked.remove(*all[1]);
    EXPECT_EQ(parked.steal(from), all[0]->base());
    parked.remove(*all[0]);
    parked.add(*all[1]);
    EXPECT_EQ(parked.steal(from), all[2]->base());
    EXPECT_EQ(parked.steal(from), all[1]->base());
    EXPECT_EQ(parked.steal(from), nullptr);
}

// main has forked a, b and c; a and b were stolen and have forked, a's child as well; main's older
// deque is full.
TEST_F(record_deque_test, parked_deques_are_robbed_in_the_order_of_a_serial_run) {
    if (!asymmetric) GTEST_SKIP() << "no membarrier";
    parked_deques parked;
    record_deque* from = nullptr;
    record_deque *const main = pool.allocate(0, true), *const newer = pool.allocate(0, true),
                        *const a = pool.allocate(0, true), *const b = pool.allocate(0, true),
                        *const child = pool.allocate(0, true);
    newer->older = main;
    a->origin = b->origin = main;
    a->origin_slot = main->base();
    b->origin_slot = main->base() + 1;
    child->origin = a;
    child->origin_slot = a->base();
    EXPECT_TRUE(comes_before(*child, *a));
    EXPECT_FALSE(comes_before(*a, *child));
    EXPECT_TRUE(comes_before(*child, *b));
    EXPECT_TRUE(comes_before(*b, *main));
    EXPECT_TRUE(comes_before(*main, *newer));
    EXPECT_FALSE(comes_before(*newer, *main));
    for (record_deque* const d : {newer, b, main, child, a})
        fork_into(*d), fork_into(*d), parked.add(*d, true);
    for (record_deque* const d : {child, a, b, main, newer}) {
        EXPECT_EQ(parked.steal(from, false), d->base());
        EXPECT_EQ(parked.steal(from, false), d->base() + 1);
        EXPECT_EQ(from, d);
    }
}

// b runs on top of a thread of the same stack that has forked it; what b forks is in a deque of its
// own.
TEST_F(record_deque_test, records_that_run_on_top_have_the_place_of_their_slot) {
    record_deque *const own = pool.allocate(0, asymmetric), *const floor =
                                                                pool.allocate(0, asymmetric);
    floor->older = own;
    floor->is_floor = true;
    floor->origin = own;
    floor->origin_slot = own->base() + 1;
    EXPECT_TRUE(comes_before(*floor, *own));
    EXPECT_FALSE(comes_before(*own, *floor));
}

// A thief that has announced itself in a deque is still there when the stack that the deque
// belonged to has ended; the next stack with this deque must not share a record with it that it
// takes back itself.
TEST_F(record_deque_test, record_in_a_deque_that_changes_hands_runs_once) {
    if (!asymmetric) GTEST_SKIP() << "no membarrier";
    std::atomic<record_deque*> visible{nullptr};
    std::atomic<bool> stop{false};
    std::atomic<long> stolen{0};
    std::thread thief([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            record_deque* const d = visible.load(std::memory_order_acquire);
            if (d != nullptr && record_thief(*d).steal() != nullptr)
                stolen.fetch_add(1, std::memory_order_release);
        }
    });
    long owned = 0, lost = 0, forked = 0;
    for (int k = 0; k < 100000; ++k) {
        record_deque* const d = pool.allocate(0, true);
        visible.store(d, std::memory_order_release);
        record* const slot = d->top();
        fork_into(*d);
        ++forked;
        if (d->retract(slot) || record_owner(*d).reclaim(slot) == deque::reclaim_result::mine) {
            ++owned;
        } else {
            ++lost;
            record_owner(*d).settle(slot);
        }
        pool.release(*d);
    }
    stop.store(true, std::memory_order_relaxed);
    thief.join();
    EXPECT_EQ(owned + lost, forked);
    EXPECT_EQ(stolen.load(std::memory_order_acquire), lost);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "forked_fib.hpp"
#include "memory_probe.hpp"
#include "runtime_fixture.hpp"
#include "sched/records/join.hpp"
#include "without_membarrier.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using namespace tulle;

class join_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, join_test, ::testing::Values(1, 2, 4));

sched::record_deque& current_records() { return *sched::this_fiber().records; }

TEST_P(join_test, tree_of_forks) {
    EXPECT_EQ(fib(24), 46368);
    EXPECT_TRUE(current_records().is_empty());
}

TEST_P(join_test, any_order_of_joins) {
    int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (auto const& order : orders) {
        for (int round = 0; round < 200; ++round) {
            auto zero = fork([] { return fib(3) + 0; });
            auto one = fork([] { return fib(3) + 10; });
            auto two = fork([] { return fib(3) + 20; });
            for (int const which : order) {
                long const result = which == 0 ? zero.join() : which == 1 ? one.join() : two.join();
                ASSERT_EQ(result, 2 + 10 * which);
            }
        }
    }
    EXPECT_TRUE(sched::discard_joined_records(sched::this_fiber()));
}

// Each pair left a record that was joined already in the deque, until memory ran out.
TEST_P(join_test, joins_in_the_order_of_forking_leave_nothing_in_the_deque) {
    for (int round = 0; round < 100000; ++round) {
        auto older = fork([round] { return round; });
        auto younger = fork([round] { return round + 1; });
        ASSERT_EQ(older.join(), round);
        ASSERT_EQ(younger.join(), round + 1);
    }
    EXPECT_EQ(sched::this_fiber().records->level, 0);
    EXPECT_TRUE(current_records().is_empty());
}

TEST_P(join_test, holes_at_several_heights_are_closed) {
    for (int round = 0; round < 2000; ++round) {
        auto a = fork([] { return 1; });
        auto b = fork([] { return 2; });
        auto c = fork([] { return 3; });
        auto d = fork([] { return 4; });
        ASSERT_EQ(a.join(), 1);
        ASSERT_EQ(c.join(), 3);
        auto e = fork([] { return 5; });
        ASSERT_EQ(d.join(), 4);
        ASSERT_EQ(b.join(), 2);
        ASSERT_EQ(e.join(), 5);
        ASSERT_TRUE(current_records().is_empty());
    }
}

long chain(long depth) {
    if (depth == 0) return 0;
    auto next = fork([depth] { return depth; });
    return chain(depth - 1) + next.join();
}

TEST_P(join_test, more_children_than_a_deque_holds) {
    EXPECT_EQ(chain(2000), 2000L * 2001 / 2);
    EXPECT_EQ(chain(2000), 2000L * 2001 / 2);
}

TEST_P(join_test, deque_that_a_burst_has_opened_is_not_kept_by_a_thread) {
    std::vector<thread<long>> threads;
    for (int k = 0; k < 50; ++k) threads.push_back(spawn([] { return chain(400); }));
    for (auto& t : threads) EXPECT_EQ(t.join(), 400L * 401 / 2);
}

TEST_P(join_test, scope_with_very_many_children) {
    std::atomic<long> sum{0};
    {
        scope s;
        for (long k = 0; k < 50000; ++k)
            s.spawn([&sum, k] { sum.fetch_add(k, std::memory_order_relaxed); });
    }
    EXPECT_EQ(sum.load(), 50000L * 49999 / 2);
    EXPECT_EQ(current_records().level, 0);
}

// The parent waits for what only its own child, not started yet, will do.
TEST_P(join_test, parent_blocks_on_an_event_that_its_own_unstarted_child_fires) {
    for (int round = 0; round < 500; ++round) {
        one_shot event;
        auto other = fork([] { return 1; });
        auto child = fork([&event] { event.fire(); });
        event.wait();
        child.join();
        ASSERT_EQ(other.join(), 1);
    }
}

TEST_P(join_test, children_that_block_become_threads) {
    constexpr int k_children = 100;
    one_shot events[k_children];
    std::atomic<int> passed{0};
    scope s;
    for (one_shot& e : events) {
        s.spawn([&e, &passed] {
            e.wait();
            passed.fetch_add(1, std::memory_order_relaxed);
        });
    }
    s.spawn([&events] {
        for (one_shot& e : events) e.fire();
    });
    s.join();
    EXPECT_EQ(passed.load(), k_children);
}

TEST_P(join_test, exception_of_a_child_arrives_whoever_ran_it) {
    for (int round = 0; round < 500; ++round) {
        auto child = fork([round]() -> int {
            this_thread::yield();
            if (round % 2 == 0) throw std::runtime_error(std::to_string(round));
            return round;
        });
        this_thread::yield(); // lets another take it
        try {
            ASSERT_EQ(child.join(), round);
            ASSERT_EQ(round % 2, 1);
        } catch (std::runtime_error const& e) {
            ASSERT_EQ(e.what(), std::to_string(round));
        }
    }
}

TEST_P(join_test, unwinding_waits_for_children_that_have_started) {
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> inside{0}, ran{0};
        try {
            scope s;
            for (int k = 0; k < 10; ++k) {
                s.spawn([&] {
                    inside.fetch_add(1);
                    this_thread::yield();
                    ran.fetch_add(1);
                    inside.fetch_sub(1);
                });
            }
            this_thread::yield();
            throw 7;
        } catch (int) {}
        ASSERT_EQ(inside.load(), 0);
        ASSERT_LE(ran.load(), 10);
    }
}

TEST_P(join_test, captures_of_cancelled_children_are_destroyed) {
    auto const shared = std::make_shared<int>(1);
    for (int round = 0; round < 100; ++round) {
        try {
            scope s;
            for (int k = 0; k < 5; ++k) s.spawn([shared] { static_cast<void>(*shared); });
            auto child = fork([shared] { return *shared; });
            auto large =
                fork([shared, padding = std::array<char, 200>{}] { return *shared + padding[0]; });
            throw 1;
        } catch (int) {}
        ASSERT_EQ(shared.use_count(), 1);
    }
}

TEST_P(join_test, child_may_be_joined_after_its_parent_has_migrated) {
    auto t = spawn([] {
        long sum = 0;
        for (int round = 0; round < 500; ++round) {
            auto child = fork([round] { return round; });
            this_thread::yield();
            sum += child.join();
        }
        return sum;
    });
    EXPECT_EQ(t.join(), 500L * 499 / 2);
}

// The join of the younger one made the older one private, where no thief could share it again.
[[noreturn]] void wait_for_an_older_child() {
    forbid_membarrier();
    initialize({.workers = 1});
    one_shot ran;
    auto older = fork([&ran] { ran.fire(); });
    auto younger = fork([] {});
    younger.join();
    ran.wait();
    older.join();
    finalize();
    std::exit(0);
}

TEST(join_death_test, a_parent_waits_for_an_older_child_without_membarrier) {
    TULLE_SKIP_IF_EMULATED("it refuses filters of system calls");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(wait_for_an_older_child(), ::testing::ExitedWithCode(0), "");
}

void leave_a_child_behind() {
    initialize({.workers = 1});
    spawn([] {
        auto* const forgotten = new child<void (*)()>([] {});
        static_cast<void>(forgotten);
    }).join();
    this_thread::yield();
    spawn_detached([] { static_cast<void>(new child<void (*)()>([] {})); });
    for (;;) this_thread::yield();
}

TEST(join_death_test, thread_ends_without_joining_its_children) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(leave_a_child_behind(),
                 "tulle: a thread ends with forked threads that it has not joined");
}

} // namespace

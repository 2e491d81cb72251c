// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

class scope_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override { tulle::initialize({.workers = GetParam()}); }
    void TearDown() override { tulle::finalize(); }
};
INSTANTIATE_TEST_SUITE_P(workers, scope_test, ::testing::Values(1, 2, 4));

TEST_P(scope_test, empty_scope) {
    tulle::scope s;
    s.join();
    s.join();
}

TEST_P(scope_test, joins_its_children_at_the_end) {
    std::vector<int> squares(1000);
    {
        tulle::scope s;
        for (int k = 0; k < 1000; ++k)
            s.spawn([&squares, k] { squares[static_cast<std::size_t>(k)] = k * k; });
    }
    for (int k = 0; k < 1000; ++k) ASSERT_EQ(squares[static_cast<std::size_t>(k)], k * k);
}

TEST_P(scope_test, can_be_used_again_after_a_join) {
    tulle::scope s;
    std::atomic<int> ran{0};
    for (int round = 1; round <= 20; ++round) {
        for (int k = 0; k < 50; ++k) s.spawn([&ran] { ++ran; });
        s.join();
        ASSERT_EQ(ran, 50 * round);
    }
}

TEST_P(scope_test, large_callables) {
    std::array<long, 64> big{};
    big.fill(2);
    std::atomic<long> sum{0};
    {
        tulle::scope s;
        for (int k = 0; k < 300; ++k) s.spawn([big, &sum] { sum += big[63]; });
    }
    EXPECT_EQ(sum, 600);
}

TEST_P(scope_test, all_children_run_though_one_throws) {
    std::atomic<int> ran{0};
    tulle::scope s;
    for (int k = 0; k < 100; ++k) {
        s.spawn([&ran, k] {
            ++ran;
            if (k == 50) throw std::runtime_error("one of many");
        });
    }
    EXPECT_THROW(s.join(), std::runtime_error);
    EXPECT_EQ(ran, 100);
    s.join(); // thrown once
}

TEST_P(scope_test, scopes_and_children_interleave) {
    std::atomic<int> ran{0};
    tulle::scope one, two;
    for (int k = 0; k < 100; ++k) {
        one.spawn([&ran] { ++ran; });
        two.spawn([&ran] { ++ran; });
    }
    auto child = tulle::fork([&ran] { ++ran; });
    one.join();
    child.join();
    two.join();
    EXPECT_EQ(ran, 201);
}

// A scope joined below the children of another one lost its own.
TEST_P(scope_test, scopes_that_are_cancelled_below_others) {
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> ran{0};
        tulle::scope outer;
        try {
            tulle::scope inner;
            for (int k = 0; k < 20; ++k) {
                inner.spawn([&ran] { ran += 100; });
                outer.spawn([&ran] { ++ran; });
            }
            throw 1;
        } catch (int) {}
        outer.join();
        ASSERT_EQ(ran % 100, 20);
    }
}

int nested(int depth) {
    if (depth == 0) return 1;
    std::atomic<int> sum{0};
    {
        tulle::scope s;
        for (int k = 0; k < 3; ++k) s.spawn([&sum, depth] { sum += nested(depth - 1); });
    }
    return sum;
}

TEST_P(scope_test, nested_scopes) { EXPECT_EQ(nested(7), 2187); }

TEST_P(scope_test, scope_in_a_destructor_while_unwinding_runs_its_children) {
    std::atomic<int> ran{0};
    struct cleaner {
        std::atomic<int>& ran;
        ~cleaner() {
            tulle::scope s;
            for (int k = 0; k < 20; ++k) s.spawn([this] { ++ran; });
        }
    };
    try {
        cleaner const c{ran};
        throw 1;
    } catch (int) {}
    EXPECT_EQ(ran, 20);
}

// What a child that is dropped has captured may use the child's slot again.
TEST_P(scope_test, scope_in_a_destructor_of_a_child_that_is_cancelled) {
    std::atomic<int> ran{0};
    struct cleaner {
        explicit cleaner(std::atomic<int>* counter) : ran(counter) {}
        cleaner(cleaner&& other) noexcept : ran(std::exchange(other.ran, nullptr)) {}
        ~cleaner() {
            if (ran == nullptr) return;
            tulle::scope s;
            for (int k = 0; k < 20; ++k) s.spawn([this] { ++*ran; });
        }
        std::atomic<int>* ran;
    };
    int rounds = 0;
    for (; rounds < 50; ++rounds) {
        try {
            tulle::scope s;
            s.spawn([c = cleaner(&ran)] {});
            throw 1;
        } catch (int) {}
    }
    EXPECT_EQ(ran, 20 * rounds);
}

void spawn_into_the_scope_of_another() {
    tulle::initialize({.workers = 1});
    tulle::scope s;
    s.spawn([] {});
    // on a stack of its own, not as a call of its joiner
    tulle::spawn(tulle::attributes{.stack_size = 64 * 1024}, [&s] { s.spawn([] {}); }).join();
}

TEST(scope_death_test, a_scope_is_used_by_the_thread_that_made_it) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(spawn_into_the_scope_of_another(),
                 "tulle: a thread spawns into a scope that it has not made; let it make one of its "
                 "own, or spawn into a tulle::spawn_group");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

namespace {

class parallel_invoke_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override { tulle::initialize({.workers = GetParam()}); }
    void TearDown() override { tulle::finalize(); }
};
INSTANTIATE_TEST_SUITE_P(workers, parallel_invoke_test, ::testing::Values(1, 2, 4));

TEST_P(parallel_invoke_test, runs_each_once) {
    std::atomic<int> a{0}, b{0}, c{0}, d{0};
    for (int round = 1; round <= 200; ++round) {
        tulle::parallel_invoke([&] { ++a; }, [&] { return ++b; }, [&] { ++c; }, [&] { ++d; });
        ASSERT_EQ(a + b + c + d, 4 * round);
    }
}

TEST_P(parallel_invoke_test, one_callable) {
    int ran = 0;
    tulle::parallel_invoke([&ran] { ++ran; });
    EXPECT_EQ(ran, 1);
}

TEST_P(parallel_invoke_test, first_exception_in_the_order_of_arguments_is_thrown) {
    for (int round = 0; round < 100; ++round) {
        auto const second_throws = [] {
            tulle::parallel_invoke([] {}, [] { throw std::runtime_error("second"); },
                                   [] { throw std::logic_error("third"); });
        };
        EXPECT_THROW(second_throws(), std::runtime_error);
        auto const first_throws = [] {
            tulle::parallel_invoke([] { throw std::logic_error("first"); },
                                   [] { throw std::runtime_error("second"); });
        };
        EXPECT_THROW(first_throws(), std::logic_error);
    }
}

int tree(int depth) {
    if (depth == 0) return 1;
    int left = 0, right = 0;
    tulle::parallel_invoke([&] { left = tree(depth - 1); }, [&] { right = tree(depth - 1); });
    return left + right;
}

TEST_P(parallel_invoke_test, nested) { EXPECT_EQ(tree(10), 1024); }

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Reductions give what a serial loop gives; in fixed order the same bits with any number of
// workers.
#include "runtime_fixture.hpp"

#include <tulle/parallel_reduce.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tulle;

std::vector<int> const k_sizes{0, 1, 2, 63, 64, 65, 511, 512, 513, 1000, 33000};

class parallel_reduce_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, parallel_reduce_test, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(parallel_reduce_test, sum_of_indices) {
    for (auto const order : {reduction_order::fixed, reduction_order::any}) {
        for (std::int64_t const n : k_sizes) {
            EXPECT_EQ(parallel_reduce(
                          std::int64_t{0}, n, std::int64_t{7}, [](std::int64_t i) { return i; },
                          std::plus<>{}, order),
                      7 + n * (n - 1) / 2);
            EXPECT_EQ(
                parallel_reduce(
                    -n, n, std::int64_t{0}, [](std::int64_t i) { return i; }, std::plus<>{}, order),
                -n);
        }
    }
}

// Concatenation is associative and not commutative.
TEST_P(parallel_reduce_test, operands_keep_their_order) {
    for (int const n : k_sizes) {
        if (n > 2000) continue;
        std::string expected = ">";
        for (int i = 0; i < n; ++i) expected += std::to_string(i) + ",";
        EXPECT_EQ(
            parallel_reduce(0, n, std::string(">"), [](int i) { return std::to_string(i) + ","; }),
            expected);
    }
}

// 2 x 2 matrices of numbers are no numbers: the lanes of numbers keep the order, too.
TEST_P(parallel_reduce_test, numbers_keep_their_order) {
    auto const first = [](std::int64_t a, std::int64_t) { return a; };
    auto const second = [](std::int64_t, std::int64_t b) { return b; };
    for (int const n : k_sizes) {
        if (n == 0) continue;
        EXPECT_EQ(parallel_reduce(
                      0, n, std::int64_t{-1}, [](int i) { return std::int64_t{i}; }, first),
                  -1);
        EXPECT_EQ(parallel_reduce(
                      0, n, std::int64_t{-1}, [](int i) { return std::int64_t{i}; }, second),
                  n - 1);
    }
}

std::vector<double> uneven_numbers(std::size_t n) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i)
        v[i] = std::sin(static_cast<double>(i) * 1.7) * std::pow(10.0, static_cast<double>(i % 17));
    return v;
}

TEST_P(parallel_reduce_test, of_elements) {
    std::vector<double> const v = uneven_numbers(33000);
    EXPECT_NEAR(parallel_sum(v.begin(), v.end()), std::accumulate(v.begin(), v.end(), 0.0), 1e3);
    std::deque<int> const d{3, 1, 4, 1, 5, 9, 2, 6};
    EXPECT_EQ(parallel_sum(d.begin(), d.end()), 31);
    EXPECT_EQ(parallel_product(d.begin(), d.end()), 6480);
    EXPECT_EQ(parallel_sum(d.begin(), d.begin()), 0);
    EXPECT_EQ(parallel_product(d.begin(), d.begin()), 1);
    EXPECT_EQ(parallel_sum(d.begin(), d.end(), std::int64_t{1} << 40U),
              (std::int64_t{1} << 40U) + 31);
}

TEST_P(parallel_reduce_test, smallest_and_largest_are_the_first_of_their_kind) {
    for (int const n : k_sizes) {
        std::vector<int> v(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i * 7919 % 101;
        EXPECT_EQ(parallel_min_element(v.begin(), v.end()), std::min_element(v.begin(), v.end()));
        EXPECT_EQ(parallel_max_element(v.begin(), v.end()), std::max_element(v.begin(), v.end()));
        EXPECT_EQ(parallel_min_element(v.begin(), v.end(), std::greater<>{}),
                  std::min_element(v.begin(), v.end(), std::greater<>{}));
        EXPECT_EQ(parallel_max_element(v.begin(), v.end(), std::greater<>{}),
                  std::max_element(v.begin(), v.end(), std::greater<>{}));
    }
}

TEST_P(parallel_reduce_test, exceptions_come_out) {
    for (auto const order : {reduction_order::fixed, reduction_order::any}) {
        auto const map = [](int i) { return i == 777 ? throw std::runtime_error("map") : i; };
        EXPECT_THROW(static_cast<void>(parallel_reduce(0, 5000, 0, map, std::plus<>{}, order)),
                     std::runtime_error);
        auto const combine = [](int a, int b) {
            return a + b > 3000 ? throw std::runtime_error("combine") : a + b;
        };
        EXPECT_THROW(static_cast<void>(parallel_reduce(
                         0, 5000, 0, [](int) { return 1; }, combine, order)),
                     std::runtime_error);
    }
}

TEST_P(parallel_reduce_test, maps_may_wait) {
    auto const map = [](int i) {
        if (i % 16 == 0) this_thread::yield();
        return i;
    };
    EXPECT_EQ(parallel_reduce(0, 1000, 0, map), 499500);
    EXPECT_EQ(parallel_reduce(0, 1000, 0, map, std::plus<>{}, reduction_order::any), 499500);
}

TEST_P(parallel_reduce_test, errors) {
    std::vector<int> const v(3);
    EXPECT_THROW(static_cast<void>(parallel_sum(v.end(), v.begin())), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(parallel_min_element(v.end(), v.begin())),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(parallel_reduce(-1, 1U, 0, [](unsigned) { return 0; })),
                 std::invalid_argument);
}

TEST(parallel_reduce, fixed_order_gives_the_same_bits_with_any_number_of_workers) {
    std::vector<double> const v = uneven_numbers(100'003);
    double first = 0;
    for (int const workers : {1, 2, 3, 4}) {
        initialize({.workers = workers});
        for (int round = 0; round < 5; ++round) {
            double const sum = parallel_sum(v.begin(), v.end());
            if (workers == 1 && round == 0) first = sum;
            EXPECT_EQ(std::memcmp(&sum, &first, sizeof sum), 0);
        }
        finalize();
    }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Scans give what std's give, in place as well.
#include "runtime_fixture.hpp"

#include <tulle/parallel_scan.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tulle;

// Of the last one a wave of four workers is a part.
std::vector<std::size_t> const k_sizes{0,    1,    2,    3,     63,    64,      65,     100,
                                       8191, 8192, 8193, 16384, 50000, 100'001, 600'001};

std::vector<std::int64_t> numbers(std::size_t n) {
    std::vector<std::int64_t> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::int64_t>(i * 7919 % 1009) - 500;
    return v;
}

class parallel_scan_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, parallel_scan_test, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(parallel_scan_test, inclusive) {
    for (std::size_t const n : k_sizes) {
        auto const v = numbers(n);
        std::vector<std::int64_t> expected(n), got(n);
        std::inclusive_scan(v.begin(), v.end(), expected.begin());
        EXPECT_EQ(parallel_inclusive_scan(v.begin(), v.end(), got.begin()), got.end());
        EXPECT_EQ(got, expected) << n;
        std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, std::int64_t{99});
        EXPECT_EQ(parallel_inclusive_scan(v.begin(), v.end(), got.begin(), std::plus<>{},
                                          std::int64_t{99}),
                  got.end());
        EXPECT_EQ(got, expected) << n;
    }
}

TEST_P(parallel_scan_test, exclusive) {
    for (std::size_t const n : k_sizes) {
        auto const v = numbers(n);
        std::vector<std::int64_t> expected(n), got(n);
        std::exclusive_scan(v.begin(), v.end(), expected.begin(), std::int64_t{-7});
        EXPECT_EQ(parallel_exclusive_scan(v.begin(), v.end(), got.begin(), std::int64_t{-7}),
                  got.end());
        EXPECT_EQ(got, expected) << n;
    }
}

TEST_P(parallel_scan_test, in_place) {
    for (std::size_t const n : k_sizes) {
        auto const v = numbers(n);
        std::vector<std::int64_t> expected(n);
        auto inclusive = v;
        auto exclusive = v;
        std::inclusive_scan(v.begin(), v.end(), expected.begin());
        parallel_inclusive_scan(inclusive.begin(), inclusive.end(), inclusive.begin());
        EXPECT_EQ(inclusive, expected) << n;
        std::exclusive_scan(v.begin(), v.end(), expected.begin(), std::int64_t{3});
        parallel_exclusive_scan(exclusive.begin(), exclusive.end(), exclusive.begin(),
                                std::int64_t{3});
        EXPECT_EQ(exclusive, expected) << n;
    }
}

TEST_P(parallel_scan_test, other_operations) {
    auto const v = numbers(30000);
    auto const larger = [](std::int64_t a, std::int64_t b) { return std::max(a, b); };
    std::vector<std::int64_t> expected(v.size()), got(v.size());
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), larger);
    parallel_inclusive_scan(v.begin(), v.end(), got.begin(), larger);
    EXPECT_EQ(got, expected);
}

// Affine maps x -> a x + b under composition: associative, not commutative, and no numbers.
struct affine {
    std::uint64_t a = 1;
    std::uint64_t b = 0;
    friend bool operator==(affine const&, affine const&) = default;
};
TEST_P(parallel_scan_test, operands_keep_their_order) {
    auto const then = [](affine const& f, affine const& g) {
        return affine{g.a * f.a, g.a * f.b + g.b};
    };
    std::vector<affine> v(200'000);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = {i * 2 + 3, i + 1};
    std::vector<affine> expected(v.size()), got(v.size());
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), then);
    parallel_inclusive_scan(v.begin(), v.end(), got.begin(), then);
    EXPECT_TRUE(got == expected);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), affine{5, 7}, then);
    parallel_exclusive_scan(v.begin(), v.end(), got.begin(), affine{5, 7}, then);
    EXPECT_TRUE(got == expected);
}

TEST_P(parallel_scan_test, strings) {
    std::vector<std::string> v(300, "ab");
    parallel_inclusive_scan(v.begin(), v.end(), v.begin());
    EXPECT_EQ(v[0], "ab");
    EXPECT_EQ(v[299].size(), 600U);
}

// Nobody waits for the sum of a block that will never come.
TEST_P(parallel_scan_test, exceptions_come_out) {
    std::vector<std::int64_t> v(200'000, 1), out(v.size());
    v[100'000] = -1;
    auto const combine = [](std::int64_t a, std::int64_t b) {
        return b < 0 ? throw std::runtime_error("combine") : a + b;
    };
    EXPECT_THROW(parallel_inclusive_scan(v.begin(), v.end(), out.begin(), combine),
                 std::runtime_error);
    EXPECT_THROW(parallel_exclusive_scan(v.begin(), v.end(), out.begin(), std::int64_t{0}, combine),
                 std::runtime_error);
}

TEST_P(parallel_scan_test, operations_may_wait) {
    std::vector<std::int64_t> v(60'000, 1);
    auto const combine = [](std::int64_t a, std::int64_t b) {
        if (a % 1000 == 0) this_thread::yield();
        return a + b;
    };
    parallel_inclusive_scan(v.begin(), v.end(), v.begin(), combine);
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], static_cast<std::int64_t>(i) + 1);
}

TEST_P(parallel_scan_test, errors) {
    std::vector<int> v(3);
    EXPECT_THROW(parallel_inclusive_scan(v.end(), v.begin(), v.begin()), std::invalid_argument);
}

TEST(parallel_scan, the_same_bits_with_any_number_of_workers) {
    std::vector<double> v(400'001); // several waves
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<double>(i));
    std::vector<double> first;
    for (int const workers : {1, 2, 4}) {
        initialize({.workers = workers});
        std::vector<double> out(v.size());
        parallel_inclusive_scan(v.begin(), v.end(), out.begin());
        if (first.empty()) first = out;
        EXPECT_EQ(std::memcmp(out.data(), first.data(), out.size() * sizeof(double)), 0);
        finalize();
    }
}

} // namespace

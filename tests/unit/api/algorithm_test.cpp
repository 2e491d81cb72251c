// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include <tulle/algorithm.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace {

class algorithm_test : public over_workers {
protected:
    void SetUp() override {
        over_workers::SetUp();
        for (int i = 0; i < 5000; ++i) v.push_back(i * 7919 % 1009);
    }
    std::vector<int> v;
};
INSTANTIATE_TEST_SUITE_P(workers, algorithm_test, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

// Each is what std's is, for all of the elements and for none.
TEST_P(algorithm_test, for_each) {
    tulle::for_each(tulle::par, v.begin(), v.end(), [](int& x) { x *= 2; });
    EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](int x) { return x % 2 == 0; }));
    EXPECT_EQ(tulle::for_each_n(tulle::par, v.begin(), 10, [](int& x) { x = 1; }), v.begin() + 10);
    EXPECT_EQ(std::accumulate(v.begin(), v.begin() + 10, 0), 10);
    EXPECT_EQ(tulle::for_each_n(tulle::par, v.begin(), -1, [](int&) { FAIL(); }), v.begin());
    tulle::for_each(tulle::par, v.end(), v.end(), [](int&) { FAIL(); });
}

TEST_P(algorithm_test, with_a_schedule) {
    std::atomic<int> sum{0};
    tulle::for_each(tulle::par(tulle::schedule::dynamic(3)), v.begin(), v.end(),
                    [&](int x) { sum += x; });
    EXPECT_EQ(sum.load(), std::accumulate(v.begin(), v.end(), 0));
    std::atomic<bool> const stop{true};
    tulle::for_each(tulle::par(tulle::loop_stop(stop)), v.begin(), v.end(), [&](int) { FAIL(); });
}

TEST_P(algorithm_test, transform_fill_copy) {
    std::vector<int> out(v.size());
    EXPECT_EQ(
        tulle::transform(tulle::par, v.begin(), v.end(), out.begin(), [](int x) { return x + 1; }),
        out.end());
    for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(out[i], v[i] + 1);
    EXPECT_EQ(
        tulle::transform(tulle::par, v.begin(), v.end(), out.begin(), out.begin(), std::minus<>{}),
        out.end());
    EXPECT_EQ(std::count(out.begin(), out.end(), -1), 5000);
    EXPECT_EQ(tulle::copy(tulle::par, v.begin(), v.end(), out.begin()), out.end());
    EXPECT_EQ(out, v);
    tulle::fill(tulle::par, out.begin(), out.end(), 3);
    EXPECT_EQ(std::count(out.begin(), out.end(), 3), 5000);
}

TEST_P(algorithm_test, reductions) {
    EXPECT_EQ(tulle::reduce(tulle::par, v.begin(), v.end()),
              std::accumulate(v.begin(), v.end(), 0));
    EXPECT_EQ(tulle::reduce(tulle::par, v.begin(), v.end(), 5L),
              std::accumulate(v.begin(), v.end(), 5L));
    auto const larger = [](int a, int b) { return std::max(a, b); };
    EXPECT_EQ(tulle::reduce(tulle::par, v.begin(), v.end(), 0, larger),
              *std::max_element(v.begin(), v.end()));
    EXPECT_EQ(tulle::transform_reduce(tulle::par, v.begin(), v.end(), 0, std::plus<>{},
                                      [](int x) { return x % 2; }),
              std::count_if(v.begin(), v.end(), [](int x) { return x % 2 == 1; }));
    EXPECT_EQ(tulle::transform_reduce(tulle::par, v.begin(), v.end(), v.begin(), 0L),
              std::inner_product(v.begin(), v.end(), v.begin(), 0L));
    EXPECT_EQ(tulle::count_if(tulle::par, v.begin(), v.end(), [](int x) { return x < 500; }),
              std::count_if(v.begin(), v.end(), [](int x) { return x < 500; }));
    EXPECT_EQ(tulle::min_element(tulle::par, v.begin(), v.end()),
              std::min_element(v.begin(), v.end()));
    EXPECT_EQ(tulle::max_element(tulle::par, v.begin(), v.end()),
              std::max_element(v.begin(), v.end()));
    EXPECT_EQ(tulle::reduce(tulle::par, v.begin(), v.begin()), 0);
    EXPECT_EQ(tulle::min_element(tulle::par, v.begin(), v.begin()), v.begin());
}

TEST_P(algorithm_test, scans_and_sorts) {
    std::vector<int> expected(v.size()), got(v.size());
    std::inclusive_scan(v.begin(), v.end(), expected.begin());
    EXPECT_EQ(tulle::inclusive_scan(tulle::par, v.begin(), v.end(), got.begin()), got.end());
    EXPECT_EQ(got, expected);
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, 9);
    tulle::inclusive_scan(tulle::par, v.begin(), v.end(), got.begin(), std::plus<>{}, 9);
    EXPECT_EQ(got, expected);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), 3);
    tulle::exclusive_scan(tulle::par, v.begin(), v.end(), got.begin(), 3);
    EXPECT_EQ(got, expected);
    auto const small = [](int x) { return x < 100; };
    EXPECT_EQ(tulle::partition(tulle::par, v.begin(), v.end(), small) - v.begin(),
              std::count_if(v.begin(), v.end(), small));
    tulle::sort(tulle::par, v.begin(), v.end());
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    tulle::stable_sort(tulle::par, v.begin(), v.end(), std::greater<>{});
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), std::greater<>{}));
}

} // namespace

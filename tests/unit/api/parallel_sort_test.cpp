// SPDX-License-Identifier: Apache-2.0
//
// Sorts and partitions of many shapes of input, with elements that are numbers, that only move, and
// that remember their place.
#include "base/rng.hpp"
#include "runtime_fixture.hpp"

#include <tulle/parallel_sort.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace tulle;

std::vector<std::size_t> const k_sizes{0,   1,   2,   3,    24,   25,   26,    100,
                                       199, 200, 201, 2047, 2048, 5000, 70'000};

// Inputs that quicksorts find hard.
enum class shape { random, ascending, descending, equal, few, organ_pipe, sawtooth };
constexpr std::array k_shapes{shape::random, shape::ascending,  shape::descending, shape::equal,
                              shape::few,    shape::organ_pipe, shape::sawtooth};

std::int64_t element(shape s, std::size_t i, std::size_t n, base::rng& random) {
    auto const k = static_cast<std::int64_t>(i);
    auto const end = static_cast<std::int64_t>(n);
    switch (s) {
        case shape::random: return static_cast<std::int64_t>(random.next() >> 8U);
        case shape::ascending: return k;
        case shape::descending: return -k;
        case shape::equal: return 42;
        case shape::few: return static_cast<std::int64_t>(random.below(4));
        case shape::organ_pipe: return k < end / 2 ? k : end - k;
        case shape::sawtooth: return k % 257;
    }
    return 0;
}
std::vector<std::int64_t> make(shape s, std::size_t n, base::rng& random) {
    std::vector<std::int64_t> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = element(s, i, n, random);
    return v;
}

class parallel_sort_test : public over_workers {
protected:
    base::rng random{test_seed()};
};
INSTANTIATE_TEST_SUITE_P(workers, parallel_sort_test, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(parallel_sort_test, every_shape) {
    for (shape const s : k_shapes) {
        for (std::size_t const n : k_sizes) {
            if (n > 10'000 && s != shape::random && s != shape::few) continue;
            auto const v = make(s, n, random);
            auto expected = v;
            std::sort(expected.begin(), expected.end());
            auto quick = v;
            parallel_sort(quick.begin(), quick.end());
            EXPECT_TRUE(quick == expected) << static_cast<int>(s) << " of " << n;
            auto merge = v;
            parallel_stable_sort(merge.begin(), merge.end());
            EXPECT_TRUE(merge == expected) << static_cast<int>(s) << " of " << n;
        }
    }
}

TEST_P(parallel_sort_test, with_a_comparison) {
    auto v = make(shape::random, 140'000, random);
    auto expected = v;
    std::sort(expected.begin(), expected.end(), std::greater<>{});
    auto stable = v;
    parallel_sort(v.begin(), v.end(), std::greater<>{});
    parallel_stable_sort(stable.begin(), stable.end(), std::greater<>{});
    EXPECT_TRUE(v == expected);
    EXPECT_TRUE(stable == expected);
}

TEST_P(parallel_sort_test, doubles_and_bytes) {
    std::vector<double> d(100'000);
    for (double& x : d) x = static_cast<double>(random.next() >> 11U) * 0x1p-53;
    std::vector<std::uint8_t> b(150'000);
    for (auto& x : b) x = static_cast<std::uint8_t>(random.below(256));
    parallel_sort(d.begin(), d.end());
    parallel_sort(b.begin(), b.end());
    EXPECT_TRUE(std::is_sorted(d.begin(), d.end()));
    EXPECT_TRUE(std::is_sorted(b.begin(), b.end()));
}

TEST_P(parallel_sort_test, strings_in_a_deque) {
    std::deque<std::string> d;
    for (int i = 0; i < 20'000; ++i) d.push_back(std::to_string(random.below(1'000'000)));
    auto expected = d;
    std::sort(expected.begin(), expected.end());
    auto stable = d;
    parallel_sort(d.begin(), d.end());
    parallel_stable_sort(stable.begin(), stable.end());
    EXPECT_TRUE(d == expected);
    EXPECT_TRUE(stable == expected);
}

TEST_P(parallel_sort_test, elements_that_only_move) {
    std::vector<std::unique_ptr<std::uint32_t>> v;
    for (int i = 0; i < 70'000; ++i)
        v.push_back(std::make_unique<std::uint32_t>(random.below(1000)));
    auto const less = [](auto const& a, auto const& b) { return *a < *b; };
    parallel_sort(v.begin(), v.end(), less);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), less));
    auto const more = [](auto const& a, auto const& b) { return *a > *b; };
    parallel_stable_sort(v.begin(), v.end(), more);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), more));
}

struct numbered {
    std::uint32_t key;
    std::uint32_t place;
    std::string text{};
};
TEST_P(parallel_sort_test, equal_elements_keep_their_order) {
    std::vector<numbered> v;
    std::vector<std::uint64_t> small; // the same of numbers: key and place in one
    for (std::uint32_t i = 0; i < 50'000; ++i) {
        v.push_back({random.below(50), i, "a text that is too long to be kept inside"});
        small.push_back(std::uint64_t{v.back().key} << 32U | i);
    }
    parallel_stable_sort(v.begin(), v.end(),
                         [](numbered const& a, numbered const& b) { return a.key < b.key; });
    parallel_stable_sort(small.begin(), small.end(),
                         [](std::uint64_t a, std::uint64_t b) { return a >> 32U < b >> 32U; });
    for (std::size_t i = 1; i < v.size(); ++i) {
        ASSERT_LE(v[i - 1].key, v[i].key);
        if (v[i - 1].key == v[i].key) {
            ASSERT_LT(v[i - 1].place, v[i].place);
        }
        ASSERT_EQ(v[i].text.size(), 41U);
    }
    EXPECT_TRUE(std::is_sorted(small.begin(), small.end()));
}

TEST_P(parallel_sort_test, a_comparison_that_throws_loses_nothing) {
    auto v = make(shape::random, 150'000, random);
    auto expected = v;
    std::atomic<int> left{100'000};
    auto const less = [&](std::int64_t a, std::int64_t b) {
        return --left == 0 ? throw std::runtime_error("less") : a < b;
    };
    EXPECT_THROW(parallel_sort(v.begin(), v.end(), less), std::runtime_error);
    std::sort(expected.begin(), expected.end());
    std::sort(v.begin(), v.end());
    EXPECT_TRUE(v == expected);
    left = 1000;
    EXPECT_THROW(parallel_stable_sort(v.begin(), v.end(), less), std::runtime_error);
}

// A comparison that throws at each of its turns, in short parts and in the last resort.
template <class Sort> void expect_nothing_lost(std::vector<std::string> const& input, Sort sort) {
    std::vector<std::string> expected = input;
    std::sort(expected.begin(), expected.end());
    bool has_thrown = true;
    for (int turn = 1; has_thrown; ++turn) {
        std::vector<std::string> v = input;
        int left = turn;
        try {
            sort(v, [&left](std::string const& a, std::string const& b) {
                return --left == 0 ? throw std::runtime_error("less") : a < b;
            });
            has_thrown = false;
            EXPECT_EQ(v, expected);
        } catch (std::runtime_error const&) {}
        std::sort(v.begin(), v.end());
        ASSERT_EQ(v, expected) << turn;
    }
}
TEST_P(parallel_sort_test, a_comparison_that_throws_at_any_turn_loses_nothing) {
    for (std::size_t const n : {std::size_t{2}, std::size_t{3}, std::size_t{24}, std::size_t{60}}) {
        std::vector<std::string> input;
        for (std::size_t k = 0; k < n; ++k)
            input.push_back("an element of a length " + std::to_string(random.below(1000)));
        expect_nothing_lost(input,
                            [](auto& v, auto less) { parallel_sort(v.begin(), v.end(), less); });
        expect_nothing_lost(input,
                            [](auto& v, auto less) { detail::heapsort(v.begin(), v.end(), less); });
    }
}
TEST_P(parallel_sort_test, the_last_resort_sorts) {
    for (shape const s : k_shapes) {
        auto v = make(s, 1000, random);
        detail::heapsort(v.begin(), v.end(), std::less<>());
        EXPECT_TRUE(std::is_sorted(v.begin(), v.end())) << static_cast<int>(s);
    }
}

// No input takes quadratic time: the number of comparisons is bounded.
TEST_P(parallel_sort_test, hard_inputs_are_not_quadratic) {
    constexpr std::size_t k_size = 40'000;
    for (shape const s : k_shapes) {
        auto v = make(s, k_size, random);
        std::atomic<std::uint64_t> comparisons{0};
        parallel_sort(v.begin(), v.end(), [&](std::int64_t a, std::int64_t b) {
            comparisons.fetch_add(1, std::memory_order_relaxed);
            return a < b;
        });
        EXPECT_LT(comparisons.load(), k_size * 16 * 5) << static_cast<int>(s);
    }
}

TEST_P(parallel_sort_test, partition) {
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{1000},
                                std::size_t{65'536}, std::size_t{90'007}}) {
        for (std::int64_t const limit : {0, 1, 50, 100}) {
            std::vector<std::int64_t> v(n + 3);
            for (auto& x : v) x = static_cast<std::int64_t>(random.below(100));
            auto const first = v.begin() + 3; // not where a page begins
            std::vector<std::int64_t> expected(first, v.end());
            auto const before = [limit](std::int64_t x) { return x < limit; };
            auto const middle = parallel_partition(first, v.end(), before);
            EXPECT_EQ(middle - first, std::count_if(first, v.end(), before))
                << n << " by " << limit;
            EXPECT_TRUE(std::is_partitioned(first, v.end(), before));
            std::sort(first, v.end());
            std::sort(expected.begin(), expected.end());
            EXPECT_TRUE(std::equal(first, v.end(), expected.begin(), expected.end()));
        }
    }
}

TEST_P(parallel_sort_test, partition_of_large_elements_in_a_deque) {
    std::deque<std::string> d;
    for (int i = 0; i < 80'000; ++i)
        d.push_back(std::to_string(random.below(1'000'000)) + std::string(20, 'x'));
    auto const odd = [](std::string const& s) { return (s.front() - '0') % 2 == 1; };
    auto const count = std::count_if(d.begin(), d.end(), odd);
    EXPECT_EQ(parallel_partition(d.begin(), d.end(), odd) - d.begin(), count);
    EXPECT_TRUE(std::is_partitioned(d.begin(), d.end(), odd));
}

TEST_P(parallel_sort_test, a_predicate_that_throws) {
    auto v = make(shape::random, 200'000, random);
    auto expected = v;
    std::atomic<int> left{100'000};
    auto const pred = [&](std::int64_t x) {
        return --left == 0 ? throw std::runtime_error("pred") : x % 2 == 0;
    };
    EXPECT_THROW(parallel_partition(v.begin(), v.end(), pred), std::runtime_error);
    std::sort(v.begin(), v.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_TRUE(v == expected);
}

TEST_P(parallel_sort_test, errors) {
    std::vector<int> v(3);
    EXPECT_THROW(parallel_sort(v.end(), v.begin()), std::invalid_argument);
    EXPECT_THROW(parallel_stable_sort(v.end(), v.begin()), std::invalid_argument);
    EXPECT_THROW(parallel_partition(v.end(), v.begin(), [](int) { return true; }),
                 std::invalid_argument);
}

} // namespace

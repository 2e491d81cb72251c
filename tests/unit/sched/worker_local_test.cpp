// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

class worker_locals : public over_workers {};

TEST_P(worker_locals, sums_of_many_threads_add_up) {
    worker_local<long> sum(0L);
    std::vector<thread<void>> threads;
    for (long k = 0; k < 1000; ++k) {
        threads.push_back(spawn([&sum, k] {
            if (k % 7 == 0) this_thread::yield();
            sum.local() += k;
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(sum.combine([](long a, long b) { return a + b; }), 499500);
    EXPECT_EQ(std::accumulate(sum.begin(), sum.end(), 0L), 499500);
    EXPECT_LE(sum.size(), static_cast<std::size_t>(GetParam()));
    EXPECT_GE(sum.size(), 1U);
}

TEST_P(worker_locals, a_worker_finds_its_value_again_and_others_do_not) {
    worker_local<std::vector<int>> lists;
    std::vector<thread<void>> threads;
    for (int k = 0; k < 400; ++k)
        threads.push_back(
            spawn([&lists] { lists.local().push_back(this_thread::worker_index()); }));
    for (auto& t : threads) t.join();
    std::size_t total = 0;
    for (auto const& list : lists) {
        total += list.size();
        for (int const index : list) EXPECT_EQ(index, list.front());
    }
    EXPECT_EQ(total, 400U);
}

TEST_P(worker_locals, foreign_threads_get_one_too_and_it_stays) {
    worker_local<int> count(0);
    ++count.local();
    // One after the other: one slot.
    for (int k = 0; k < 3; ++k) std::thread([&count] { ++count.local(); }).join();
    EXPECT_EQ(count.combine(std::plus<>()), 4);
    EXPECT_EQ(count.size(), 2U);
    std::vector<std::thread> at_once;
    std::atomic<int> here{0};
    for (int k = 0; k < 40; ++k) {
        at_once.emplace_back([&] {
            ++count.local();
            here.fetch_add(1, std::memory_order_relaxed);
            while (here.load(std::memory_order_relaxed) < 40) std::this_thread::yield();
        });
    }
    for (auto& t : at_once) t.join();
    EXPECT_EQ(count.combine(std::plus<>()), 44);
    EXPECT_EQ(count.size(), 41U);
}

TEST_P(worker_locals, values_have_cache_lines_of_their_own) {
    struct alignas(256) wide {
        char byte = 0;
    };
    worker_local<char> small('a');
    worker_local<wide> large;
    static_cast<void>(small.local());
    static_cast<void>(large.local());
    std::thread([&] {
        static_cast<void>(small.local());
        static_cast<void>(large.local());
    }).join();
    for (char const& c : small) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&c) % 128, 0U);
    for (wide const& w : large) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 256, 0U);
    EXPECT_EQ(small.size(), 2U);
}

TEST_P(worker_locals, a_maker_is_called_once_for_each_worker_and_cleared_values_are_made_again) {
    std::atomic<int> made{0};
    worker_local<std::string> names(
        [&made] { return "n" + std::to_string(made.fetch_add(1, std::memory_order_relaxed)); });
    EXPECT_TRUE(names.empty());
    EXPECT_EQ(names.local(), "n0");
    EXPECT_EQ(names.local(), "n0");
    names.clear();
    EXPECT_TRUE(names.empty());
    EXPECT_EQ(names.local(), "n1");
}

TEST_P(worker_locals, combine_of_none_is_a_fresh_value) {
    worker_local<int> none(17);
    EXPECT_EQ(none.combine(std::plus<>()), 17);
}

TEST_P(worker_locals, a_maker_that_throws_leaves_nothing) {
    bool throws = true;
    worker_local<int> value([&throws] {
        if (throws) throw std::runtime_error("no");
        return 3;
    });
    EXPECT_THROW(static_cast<void>(value.local()), std::runtime_error);
    EXPECT_TRUE(value.empty());
    throws = false;
    EXPECT_EQ(value.local(), 3);
}

// Its thread may be on another worker then, or another thread of the worker have been faster.
TEST_P(worker_locals, a_maker_may_wait) {
    worker_local<int> value([] {
        this_thread::sleep_for(std::chrono::microseconds(20));
        return 1;
    });
    std::vector<thread<void>> threads;
    for (int k = 0; k < 50; ++k)
        threads.push_back(spawn([&value] { EXPECT_GE(value.local(), 1); }));
    for (auto& t : threads) t.join();
    EXPECT_LE(value.size(), static_cast<std::size_t>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(workers, worker_locals, ::testing::Values(1, 2, 4));

TEST(worker_local_object, outlives_the_run_time) {
    worker_local<int> count(0);
    for (int round = 1; round <= 5; ++round) {
        initialize({.workers = round});
        ++count.local();
        finalize();
    }
    EXPECT_EQ(count.combine(std::plus<>()), 5);
    EXPECT_EQ(count.size(), 1U);
}

} // namespace

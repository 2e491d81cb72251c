// SPDX-License-Identifier: Apache-2.0
//
// Loops of random shapes at once, in Tulle threads and foreign OS threads: nested, waiting,
// throwing, stopped half way. Each iteration runs once, or, where the loop ends early, at most
// once, and none runs when the loop has returned. Sorts and scans are compared with std's.
// No benchmark. TULLE_TEST_SEED repeats the choices of a run, TULLE_STRESS_SECONDS makes it longer.
#include "stress.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using tulle::schedule;
using tulle::base::rng;

schedule any_schedule(rng& r) {
    switch (r.below(6)) {
        case 0: return schedule::automatic();
        case 1: return schedule::automatic(1 + r.below(50));
        case 2: return schedule::even();
        case 3: return schedule::dynamic(1 + r.below(5));
        case 4: return schedule::guided(1 + r.below(5));
        default: return r.below(8) == 0 ? schedule::one_thread_each() : schedule::dynamic();
    }
}

// A loop of `count` iterations, and what may happen in them.
struct shape {
    std::size_t count;
    schedule how;
    std::size_t waits_every;  // so many iterations; 0: never
    std::size_t throws_at;    // an iteration; none: beyond the end
    std::size_t stops_at;     // likewise
    std::size_t nested_every; // a loop in the loop
};
shape any_shape(rng& r, int depth) {
    std::size_t const count = r.below(depth == 0 ? 2000 : 60);
    return {.count = count,
            .how = any_schedule(r),
            .waits_every = r.below(3) == 0 ? 1 + r.below(40) : 0,
            .throws_at = r.below(8) == 0 ? r.below(2000) : count,
            .stops_at = r.below(8) == 0 ? r.below(2000) : count,
            .nested_every = depth < 2 && r.below(3) == 0 ? 1 + r.below(200) : 0};
}

void wait_a_little(std::size_t i) {
    if (i % 5 == 0)
        tulle::this_thread::sleep_for(std::chrono::microseconds(i % 50));
    else
        tulle::this_thread::yield();
}

void run_loop(rng& r, int depth);

struct loop_state {
    explicit loop_state(shape const& of) : s(of), runs(of.count) {}

    void iteration(std::size_t i, int depth) {
        ASSERT_FALSE(returned.load(std::memory_order_relaxed))
            << "an iteration runs when its loop has ended";
        runs[i].fetch_add(1, std::memory_order_relaxed);
        if (s.waits_every != 0 && i % s.waits_every == 0) wait_a_little(i);
        if (i == s.stops_at) stop.store(true, std::memory_order_release); // pairs with loop_stop
        if (i == s.throws_at) throw i;
        if (s.nested_every != 0 && i % s.nested_every == 0) {
            rng r(i + 1);
            run_loop(r, depth + 1);
        }
    }

    shape s;
    std::vector<std::atomic<int>> runs;
    std::atomic<bool> stop{false};
    std::atomic<bool> returned{false};
};

void check(loop_state const& l, bool complete) {
    for (auto const& runs : l.runs) {
        int const n = runs.load(std::memory_order_relaxed);
        ASSERT_TRUE(complete ? n == 1 : n <= 1) << n;
    }
}

void run_loop(rng& r, int depth) {
    loop_state l(any_shape(r, depth));
    bool complete = false;
    try {
        complete =
            tulle::parallel_for(std::size_t{0}, l.s.count,
                                [&](std::size_t i) { l.iteration(i, depth); }, {l.s.how, l.stop});
        ASSERT_GE(l.s.throws_at, l.s.count * (complete ? 1 : 0));
    } catch (std::size_t thrown) {
        ASSERT_EQ(thrown, l.s.throws_at);
    }
    l.returned.store(true, std::memory_order_relaxed);
    check(l, complete);
}

void run_algorithms(rng& r) {
    std::vector<std::int64_t> v(r.below(30'000));
    std::uint32_t const different = 1 + r.below(1000);
    for (auto& x : v) x = r.below(different);
    std::vector<std::int64_t> expected(v.size()), got(v.size());
    std::inclusive_scan(v.begin(), v.end(), expected.begin());
    tulle::parallel_inclusive_scan(v.begin(), v.end(), got.begin());
    ASSERT_TRUE(got == expected);
    ASSERT_EQ(tulle::parallel_sum(v.begin(), v.end()),
              std::accumulate(v.begin(), v.end(), std::int64_t{0}));
    expected = v;
    std::sort(expected.begin(), expected.end());
    got = v;
    tulle::parallel_sort(got.begin(), got.end());
    ASSERT_TRUE(got == expected);
    tulle::parallel_stable_sort(v.begin(), v.end());
    ASSERT_TRUE(v == expected);
}

void run_for_a_while(std::uint64_t seed, clock_type::time_point end) {
    rng r(seed);
    while (clock_type::now() < end && !::testing::Test::HasFatalFailure()) {
        if (r.below(10) == 0)
            run_algorithms(r);
        else
            run_loop(r, 0);
    }
}

class loop_stress : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(workers, loop_stress, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(loop_stress, loops_of_all_kinds_at_once) {
    print_seed("loops_of_all_kinds_at_once");
    tulle::initialize({.workers = GetParam()});
    auto const end = end_of_run(2);
    constexpr int k_foreign = 2;
    tulle::signal ended(k_foreign);
    std::vector<std::thread> foreign;
    std::vector<tulle::thread<void>> threads;
    for (std::uint64_t k = 0; k < k_foreign; ++k) {
        foreign.emplace_back([&, k] {
            run_for_a_while(seed() + k, end);
            ended.notify();
        });
    }
    for (std::uint64_t k = 0; k < 3; ++k)
        threads.push_back(tulle::spawn([&, k] { run_for_a_while(seed() + 100 + k, end); }));
    for (auto& t : threads) t.join();
    ended.wait(); // as a worker
    for (auto& t : foreign) t.join();
    while (tulle::is_initialized()) {
        try {
            tulle::finalize();
        } catch (std::system_error const&) { // threads of iterations are about to end
            tulle::this_thread::yield();
        }
    }
}

} // namespace

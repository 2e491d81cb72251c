// SPDX-License-Identifier: Apache-2.0
//
// Every schedule and every kind of range: each iteration runs exactly once, whatever its neighbours
// do.
#include "runtime_fixture.hpp"

#include <tulle/parallel_for.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace tulle;

struct named_schedule {
    char const* name;
    schedule how;
};
std::ostream& operator<<(std::ostream& out, named_schedule const& s) { return out << s.name; }
std::vector<named_schedule> all_schedules() {
    return {{"automatic", {}},
            {"even", schedule::even()},
            {"dynamic", schedule::dynamic()},
            {"dynamic7", schedule::dynamic(7)},
            {"guided", schedule::guided()},
            {"threads", schedule::one_thread_each()}};
}

class parallel_for_test : public ::testing::TestWithParam<std::tuple<int, named_schedule>> {
protected:
    void SetUp() override { initialize({.workers = std::get<0>(GetParam())}); }
    void TearDown() override {
        while (!is_finalized()) this_thread::yield();
    }
    static schedule how() { return std::get<1>(GetParam()).how; }

private:
    // Threads of their own may be about to end.
    static bool is_finalized() {
        try {
            finalize();
            return true;
        } catch (std::system_error const& e) {
            EXPECT_EQ(e.code().value(), EBUSY);
            return false;
        }
    }
};
INSTANTIATE_TEST_SUITE_P(each, parallel_for_test,
                         ::testing::Combine(::testing::Values(1, 3),
                                            ::testing::ValuesIn(all_schedules())),
                         [](auto const& test) {
                             return "workers" + std::to_string(std::get<0>(test.param)) + "_" +
                                    std::get<1>(test.param).name;
                         });

// How often each of n iterations ran.
class tally {
public:
    explicit tally(std::size_t n) : m_runs(n) {}
    void count(std::size_t i) { m_runs.at(i).fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] int runs(std::size_t i) const {
        return m_runs.at(i).load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool all_once() const {
        return std::all_of(m_runs.begin(), m_runs.end(),
                           [](auto const& r) { return r.load(std::memory_order_relaxed) == 1; });
    }
    [[nodiscard]] int total() const {
        return std::accumulate(m_runs.begin(), m_runs.end(), 0, [](int sum, auto const& r) {
            return sum + r.load(std::memory_order_relaxed);
        });
    }

private:
    std::vector<std::atomic<int>> m_runs;
};

TEST_P(parallel_for_test, each_iteration_runs_once) {
    for (int const n : {0, 1, 2, 3, 5, 16, 17, 100, 1000, 4099}) {
        tally seen(static_cast<std::size_t>(n));
        EXPECT_TRUE(parallel_for(
            0, n, [&](int i) { seen.count(static_cast<std::size_t>(i)); }, how()));
        EXPECT_TRUE(seen.all_once()) << n;
    }
}

TEST_P(parallel_for_test, an_end_before_the_begin_is_empty) {
    EXPECT_TRUE(parallel_for(
        5, -5, [](int) { FAIL(); }, how()));
    EXPECT_TRUE(parallel_for(
        7U, 7U, [](unsigned) { FAIL(); }, how()));
}

TEST_P(parallel_for_test, negative_bounds) {
    tally seen(200);
    parallel_for(
        -100L, 100L, [&](long i) { seen.count(static_cast<std::size_t>(i + 100)); }, how());
    EXPECT_TRUE(seen.all_once());
}

TEST_P(parallel_for_test, steps_up_and_down) {
    for (int const step : {1, 2, 3, 7, 1000}) {
        tally up(100);
        tally down(100);
        parallel_for(
            0, 100, step, [&](int i) { up.count(static_cast<std::size_t>(i)); }, how());
        parallel_for(
            99, -1, -step, [&](int i) { down.count(static_cast<std::size_t>(i)); }, how());
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(up.runs(static_cast<std::size_t>(i)), i % step == 0 ? 1 : 0)
                << i << " by " << step;
            EXPECT_EQ(down.runs(static_cast<std::size_t>(i)), (99 - i) % step == 0 ? 1 : 0)
                << i << " by -" << step;
        }
    }
}

TEST_P(parallel_for_test, elements_of_iterators) {
    std::vector<int> values(3000, 1);
    parallel_for(
        values.begin(), values.end(), [](int& v) { ++v; }, how());
    EXPECT_EQ(std::count(values.begin(), values.end(), 2), 3000);
    std::deque<int> pieces(1000, 1);
    parallel_for(
        pieces.begin(), pieces.end(), [](int& v) { ++v; }, how());
    EXPECT_EQ(std::count(pieces.begin(), pieces.end(), 2), 1000);
}

TEST_P(parallel_for_test, points_of_a_rectangle) {
    tally seen(40 * 70);
    auto const at = [](int i, int j) { return static_cast<std::size_t>((i + 10) * 70 + j); };
    parallel_for(
        blocked_range_2d<int>{-10, 30, 0, 70, 7, 32}, [&](int i, int j) { seen.count(at(i, j)); },
        how());
    EXPECT_TRUE(seen.all_once());
}

TEST_P(parallel_for_test, tiles_of_a_rectangle) {
    tally seen(40 * 70);
    std::atomic<int> tiles{0};
    parallel_for(
        blocked_range_2d<int>{0, 40, 0, 70, 7, 32},
        [&](blocked_range_2d<int> const& t) {
            ++tiles;
            EXPECT_LE(t.row_end - t.row_begin, 7);
            EXPECT_LE(t.column_end - t.column_begin, 32);
            for (int i = t.row_begin; i < t.row_end; ++i)
                for (int j = t.column_begin; j < t.column_end; ++j)
                    seen.count(static_cast<std::size_t>(i * 70 + j));
        },
        how());
    EXPECT_TRUE(seen.all_once());
    EXPECT_EQ(tiles.load(), 6 * 3);
}

TEST_P(parallel_for_test, what_the_caller_and_the_iterations_did_is_visible) {
    std::vector<int> in(2000);
    std::vector<int> out(2000);
    for (int round = 0; round < 20; ++round) {
        std::iota(in.begin(), in.end(), round);
        parallel_for(
            0, 2000,
            [&](int i) { out[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(i)] + 1; },
            how());
        for (int i = 0; i < 2000; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], round + i + 1);
    }
}

TEST_P(parallel_for_test, loops_in_loops) {
    tally seen(30 * 40);
    parallel_for(
        0, 30,
        [&](int i) {
            parallel_for(
                0, 40, [&](int j) { seen.count(static_cast<std::size_t>(i * 40 + j)); }, how());
        },
        how());
    EXPECT_TRUE(seen.all_once());
}

TEST_P(parallel_for_test, iterations_wait) {
    std::atomic<int> sum{0};
    mutex lock;
    parallel_for(
        0, 300,
        [&](int i) {
            if (i % 10 == 0) this_thread::sleep_for(std::chrono::microseconds(50));
            std::lock_guard const held(lock);
            this_thread::yield();
            sum += i;
        },
        how());
    EXPECT_EQ(sum.load(), 300 * 299 / 2);
}

TEST_P(parallel_for_test, the_first_exception_comes_out_when_all_have_ended) {
    for (int const n : {1, 2, 100, 3000}) {
        std::atomic<int> running{0};
        std::atomic<int> begun{0};
        auto const body = [&](int i) {
            ++begun;
            ++running;
            if (i % 7 == 3 || n < 3) {
                --running;
                throw std::runtime_error("iteration");
            }
            if (i % 50 == 0) this_thread::yield();
            --running;
        };
        EXPECT_THROW(parallel_for(0, n, body, how()), std::runtime_error);
        EXPECT_EQ(running.load(), 0);
        EXPECT_LE(begun.load(), n);
    }
}

TEST_P(parallel_for_test, an_exception_leaves_out_the_rest) {
    if (how().kind() == detail::schedule_kind::even)
        GTEST_SKIP() << "its parts are whole or not at all";
    std::atomic<int> begun{0};
    constexpr int k_many = 200'000;
    auto const body = [&](int) {
        ++begun;
        throw 1;
    };
    EXPECT_THROW(parallel_for(0, k_many, body, how()), int);
    EXPECT_LT(begun.load(), k_many);
}

TEST_P(parallel_for_test, a_flag_ends_it) {
    std::atomic<bool> stop{true};
    EXPECT_FALSE(parallel_for(0, 1000, [](int) { FAIL(); }, {how(), stop}));
    EXPECT_FALSE(parallel_for(0, 1, [](int) { FAIL(); }, {how(), stop}));
    stop = false;
    tally seen(1000);
    EXPECT_TRUE(parallel_for(0, 1000, [&](int i) { seen.count(static_cast<std::size_t>(i)); },
                             {how(), stop}));
    EXPECT_TRUE(seen.all_once());
}

TEST_P(parallel_for_test, a_stop_token_ends_it_half_way) {
    std::stop_source source;
    std::stop_token const token = source.get_token();
    constexpr std::size_t k_many = 100'000;
    tally seen(k_many);
    std::atomic<int> begun{0};
    bool const complete = parallel_for(std::size_t{0}, k_many,
                                       [&](std::size_t i) {
                                           seen.count(i);
                                           if (++begun == 10) source.request_stop();
                                       },
                                       {how(), token});
    if (how().kind() != detail::schedule_kind::even) {
        EXPECT_FALSE(complete);
        EXPECT_LT(seen.total(), static_cast<int>(k_many));
    }
    for (std::size_t i = 0; i < k_many; ++i) ASSERT_LE(seen.runs(i), 1);
}

TEST_P(parallel_for_test, from_a_foreign_thread) {
    tally seen(5000);
    tulle::signal ended(1);
    std::thread foreign([&] {
        parallel_for(
            0, 5000, [&](int i) { seen.count(static_cast<std::size_t>(i)); }, how());
        ended.notify();
    });
    ended.wait(); // as a worker
    foreign.join();
    EXPECT_TRUE(seen.all_once());
}

TEST_P(parallel_for_test, from_many_threads_at_once) {
    tally seen(8 * 500);
    std::vector<thread<void>> threads;
    for (int t = 0; t < 8; ++t)
        threads.push_back(spawn([&, t] {
            parallel_for(
                0, 500, [&](int i) { seen.count(static_cast<std::size_t>(t * 500 + i)); }, how());
        }));
    for (auto& t : threads) t.join();
    EXPECT_TRUE(seen.all_once());
}

// --- what does not depend on the schedule --------------------------------------------------------

class parallel_for_workers : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, parallel_for_workers, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(parallel_for_workers, chunks_of_all_sizes) {
    for (std::uint64_t const chunk :
         {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{1000}, UINT64_MAX}) {
        for (schedule const how :
             {schedule::automatic(chunk), schedule::dynamic(chunk), schedule::guided(chunk)}) {
            tally seen(3001);
            EXPECT_TRUE(parallel_for(
                0, 3001, [&](int i) { seen.count(static_cast<std::size_t>(i)); }, how));
            EXPECT_TRUE(seen.all_once()) << chunk;
        }
    }
}

TEST_P(parallel_for_workers, more_than_2_to_the_32_iterations) {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<bool> stop{false};
    constexpr std::uint64_t k_many = std::uint64_t{1} << 40U;
    std::atomic<std::uint64_t> largest{0};
    bool const complete =
        parallel_for(std::uint64_t{0}, k_many,
                     [&](std::uint64_t i) {
                         std::uint64_t seen = largest.load();
                         while (seen < i && !largest.compare_exchange_weak(seen, i)) {}
                         if (++begun == 5000) stop = true;
                     },
                     {schedule::dynamic(), stop});
    EXPECT_FALSE(complete);
    EXPECT_LT(largest.load(), k_many);
    // All of them, in chunks that cost nothing: 0 + 1 + ... + n - 1, modulo 2^64.
    constexpr std::uint64_t k_all = (std::uint64_t{1} << 33U) + 5;
    std::atomic<std::uint64_t> sum{0};
    auto const sum_below = [](std::uint64_t n) {
        return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
    };
    detail::run_chunks(k_all, schedule::dynamic(std::uint64_t{1} << 20U),
                       [&](std::uint64_t first, std::uint64_t last) {
                           sum += sum_below(last) - sum_below(first);
                       });
    EXPECT_EQ(sum.load(), sum_below(k_all));
}

TEST_P(parallel_for_workers, the_widest_ranges) {
    using limits = std::numeric_limits<std::int64_t>;
    std::atomic<bool> stop{true};
    EXPECT_THROW(parallel_for(
                     limits::min(), limits::max(), [](std::int64_t) {}, loop_options{{}, stop}),
                 std::length_error);
    EXPECT_FALSE(parallel_for(
        limits::min(), std::int64_t{0}, [](std::int64_t) {}, loop_options{{}, stop}));
    std::set<std::int64_t> seen;
    mutex lock;
    auto const note = [&](std::int64_t i) {
        std::lock_guard const held(lock);
        seen.insert(i);
    };
    parallel_for(limits::max() - 3, limits::max(), note);
    parallel_for(limits::min(), limits::min() + 2, note);
    parallel_for(limits::min(), limits::max(), limits::max(), note);
    EXPECT_EQ(seen, (std::set<std::int64_t>{limits::max() - 3, limits::max() - 2, limits::max() - 1,
                                            limits::min(), limits::min() + 1, -1}));
}

TEST_P(parallel_for_workers, bounds_of_different_types) {
    std::atomic<std::size_t> count{0};
    std::vector<int> const v(10);
    parallel_for(0, v.size(), [&](std::size_t) { ++count; });
    parallel_for(0, 10L, [&](long) { ++count; });
    EXPECT_EQ(count.load(), 20U);
    EXPECT_THROW(parallel_for(-1, v.size(), [](std::size_t) {}), std::invalid_argument);
}

TEST_P(parallel_for_workers, errors) {
    EXPECT_THROW(parallel_for(0, 10, 0, [](int) {}), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(schedule::dynamic(0)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(schedule::guided(0)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(schedule::automatic(0)), std::invalid_argument);
    EXPECT_THROW(parallel_for(blocked_range_2d<int>{0, 1, 0, 1, 0, 1}, [](int, int) {}),
                 std::invalid_argument);
    EXPECT_THROW(parallel_for(blocked_range_2d<int>{0, 1, 0, 1, 1, -1}, [](int, int) {}),
                 std::invalid_argument);
    std::vector<int> v(3);
    EXPECT_THROW(parallel_for(v.end(), v.begin(), [](int) {}), std::invalid_argument);
    using range = blocked_range_2d<std::int64_t>;
    constexpr std::int64_t k_far = std::int64_t{1} << 62U;
    EXPECT_THROW(parallel_for(range{0, k_far, 0, k_far, 1, 1}, [](std::int64_t, std::int64_t) {}),
                 std::length_error);
    EXPECT_THROW(parallel_for(
                     std::int64_t{0}, std::int64_t{1} << 32U, [](std::int64_t) {},
                     schedule::one_thread_each()),
                 std::length_error);
}

TEST_P(parallel_for_workers, equal_distribution) {
    for (int const n : {0, 1, 2, 3, 4, 5, 100, 1001}) {
        tally seen(static_cast<std::size_t>(n));
        tally parts(static_cast<std::size_t>(GetParam()));
        std::atomic<int> smallest{n};
        std::atomic<int> largest{0};
        parallel_for_parts(0, n, [&](std::uint64_t part, int begin, int end) {
            parts.count(static_cast<std::size_t>(part));
            EXPECT_LT(begin, end);
            for (int i = begin; i < end; ++i) seen.count(static_cast<std::size_t>(i));
            int const size = end - begin;
            for (int old = smallest; size < old && !smallest.compare_exchange_weak(old, size);) {}
            for (int old = largest; size > old && !largest.compare_exchange_weak(old, size);) {}
        });
        EXPECT_TRUE(seen.all_once()) << n;
        EXPECT_EQ(parts.total(), std::min(n, GetParam()));
        EXPECT_LE(largest - smallest, n == 0 ? 0 : 1);
    }
}

// All iterations are alive at once: each waits for all others.
TEST_P(parallel_for_workers, threads_for_iterations_may_wait_for_each_other) {
    constexpr int k_threads = 200;
    barrier all(k_threads);
    std::set<thread_id> ids;
    mutex lock;
    parallel_for(
        0, k_threads,
        [&](int) {
            all.arrive_and_wait();
            std::lock_guard const held(lock);
            ids.insert(this_thread::get_id());
        },
        schedule::one_thread_each());
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(k_threads));
}

// An iteration that waits keeps none of the others from running, with one worker, too.
TEST_P(parallel_for_workers, iterations_of_a_dynamic_loop_may_wait_for_each_other) {
    constexpr int k_many = 60;
    barrier all(k_many);
    std::atomic<int> ended{0};
    parallel_for(
        0, k_many,
        [&](int) {
            all.arrive_and_wait();
            ++ended;
        },
        schedule::dynamic());
    EXPECT_EQ(ended.load(), k_many);
}

TEST_P(parallel_for_workers, a_chain_of_waits_against_the_order) {
    constexpr int k_many = 64;
    std::array<one_shot, k_many + 1> done;
    done[k_many].fire();
    parallel_for(
        0, k_many,
        [&](int i) {
            done[static_cast<std::size_t>(i) + 1].wait();
            done[static_cast<std::size_t>(i)].fire();
        },
        schedule::dynamic());
    done[0].wait();
}

} // namespace

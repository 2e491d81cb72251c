// SPDX-License-Identifier: Apache-2.0
//
// How those who run a loop share it: iterations that wait, workers that come and go, few stacks,
// orders that a seed decides.
#include "emulated.hpp"
#include "loop/job.hpp"
#include "runtime_fixture.hpp"
#include "without_membarrier.hpp"

#include <tulle/algorithm.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tulle;

class job_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, job_test, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

// It has not begun any other iteration with it, and keeps none that is in its range.
TEST_P(job_test, one_iteration_waits_for_all_others) {
    for (schedule const how : {schedule::automatic(), schedule::dynamic()}) {
        constexpr std::uint32_t k_many = 3000;
        tulle::signal others(k_many - 1);
        parallel_for(
            0U, k_many,
            [&](std::uint32_t i) {
                if (i == 0)
                    others.wait();
                else
                    others.notify();
            },
            how);
        EXPECT_TRUE(others.try_wait());
    }
}

TEST_P(job_test, any_iteration_of_a_dynamic_loop_waits_for_all_others) {
    for (std::uint32_t const who : {1U, 31U, 32U, 63U}) {
        tulle::signal others(63);
        parallel_for(
            0U, 64U,
            [&](std::uint32_t i) {
                if (i == who)
                    others.wait();
                else
                    others.notify();
            },
            schedule::dynamic());
        EXPECT_TRUE(others.try_wait());
    }
}

TEST_P(job_test, parts_may_wait_for_each_other) {
    barrier all(GetParam());
    std::atomic<int> passed{0};
    parallel_for_parts(0, 100, [&](std::uint64_t, int, int) {
        all.arrive_and_wait();
        ++passed;
    });
    EXPECT_EQ(passed.load(), GetParam());
}

TEST_P(job_test, what_waits_is_resumed_before_the_loop_ends) {
    std::atomic<int> ended{0};
    parallel_for(
        0, 200,
        [&](int i) {
            this_thread::sleep_for(std::chrono::microseconds(i % 7 * 100));
            ++ended;
        },
        schedule::dynamic());
    EXPECT_EQ(ended.load(), 200);
}

TEST_P(job_test, forks_in_iterations) {
    std::atomic<int> sum{0};
    parallel_for(0, 500, [&](int i) {
        auto left = fork([&sum, i] { sum += i; });
        parallel_invoke([&] { sum += 1; }, [&] { sum += 2; });
        left.join();
    });
    EXPECT_EQ(sum.load(), 500 * 499 / 2 + 1500);
}

TEST_P(job_test, workers_come_and_go_meanwhile) {
    int const most = max_worker_count();
    std::atomic<bool> done{false};
    auto changes = spawn([&] {
        for (int n = 1; !done; n = n % most + 1) {
            set_worker_count(n);
            this_thread::sleep_for(std::chrono::microseconds(200));
        }
    });
    for (int round = 0; round < 30; ++round) {
        std::vector<std::atomic<int>> runs(2000);
        parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
            if (i % 100 == 0) this_thread::yield();
            ++runs[i];
        });
        for (auto const& r : runs) ASSERT_EQ(r.load(), 1);
    }
    done = true;
    changes.join();
    set_worker_count(GetParam());
}

// --- loops that end early ------------------------------------------------------------------------

// The second worker is in an iteration when the first one ends the loop, and goes on only when that
// is over: when the first one waits for it.
// Then a thread runs that only the first worker can run.
class early_end : public ::testing::Test {
protected:
    void SetUp() override {
        set_option("max_substitutes", "off");
        initialize({.workers = 2});
    }
    void TearDown() override { finalize(); }

    void iterate(std::atomic<bool>* stops) {
        m_begun.fetch_add(1);
        int nobody = -1;
        if (m_first.compare_exchange_strong(nobody, this_thread::worker_index())) return end(stops);
        m_others.store(true);
        while (!m_is_over.load()) std::this_thread::yield(); // without a call of the library
    }
    void end(std::atomic<bool>* stops) {
        while (!m_others.load()) std::this_thread::yield();
        m_after = spawn([this] { m_is_over.store(true); });
        if (stops == nullptr) throw 7;
        stops->store(true);
    }

    std::atomic<int> m_begun{0};
    std::atomic<int> m_first{-1}; // worker
    std::atomic<bool> m_others{false};
    std::atomic<bool> m_is_over{false};
    thread<void> m_after;
};

TEST_F(early_end, nobody_begins_an_iteration_after_an_exception) {
    for (int round = 0; round < 20; ++round) {
        m_begun = 0;
        m_first = -1;
        m_others = m_is_over = false;
        EXPECT_THROW(parallel_for(
                         0, 1000, [this](int) { iterate(nullptr); }, schedule::dynamic(1)),
                     int);
        m_after.join();
        ASSERT_LE(m_begun.load(), 3);
    }
}

TEST_F(early_end, nobody_begins_an_iteration_after_the_flag_was_seen) {
    for (int round = 0; round < 20; ++round) {
        m_begun = 0;
        m_first = -1;
        m_others = m_is_over = false;
        std::atomic<bool> stops{false};
        parallel_for(
            0, 1000, [&](int) { iterate(&stops); }, loop_options(schedule::dynamic(1), stops));
        m_after.join();
        ASSERT_LE(m_begun.load(), 3);
    }
}

class few_stacks : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        set_option("max_stacks", std::to_string(3 * GetParam() + 2));
        initialize({.workers = GetParam()});
    }
    void TearDown() override {
        finalize();
        set_option("max_stacks", "auto");
    }
};
INSTANTIATE_TEST_SUITE_P(workers, few_stacks, ::testing::Values(1, 2, 4),
                         ::testing::PrintToStringParamName());

TEST_P(few_stacks, iterations_that_wait_for_nobody_behind_them_end) {
    mutex lock;
    int sum = 0;
    for (schedule const how :
         {schedule::automatic(), schedule::dynamic(), schedule::even(), schedule::guided()}) {
        parallel_for(
            0, 300,
            [&](int i) {
                std::lock_guard const held(lock);
                if (i % 3 == 0) this_thread::yield();
                sum += i;
            },
            how);
    }
    EXPECT_EQ(sum, 4 * 300 * 299 / 2);
}

// What a run from a seed does, in a process of its own: a started run time does not change its
// mode.
int run_with_seed(char const* seed) {
    setenv("TULLE_SEED", seed, 1);
    if (!(initialize({}), sched::scheduler::instance().is_deterministic())) return 3;
    std::vector<std::atomic<int>> runs(100);
    std::atomic<bool> met{false};
    for (schedule const how : {schedule::automatic(), schedule::dynamic(), schedule::guided(),
                               schedule::even(), schedule::one_thread_each()}) {
        parallel_for(
            std::size_t{0}, runs.size(),
            [&](std::size_t i) {
                if (i % 5 == 0) this_thread::yield();
                ++runs[i];
                if (i == 99) met = true;
            },
            how);
    }
    std::vector<int> v(300);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int>(i * 7919 % 301);
    tulle::sort(par, v.begin(), v.end());
    for (auto const& r : runs)
        if (r.load() != 5) return 1;
    return met && std::is_sorted(v.begin(), v.end()) ? 0 : 2;
}
TEST(job, every_seed_runs_each_iteration_once) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // options are read once in a process
    for (int seed = 1; seed <= 20; ++seed)
        EXPECT_EXIT(std::_Exit(run_with_seed(std::to_string(seed).c_str())),
                    ::testing::ExitedWithCode(0), "")
            << seed;
}

int run_without_membarrier() {
    forbid_membarrier();
    initialize({.workers = 4});
    for (schedule const how :
         {schedule::automatic(), schedule::dynamic(), schedule::guided(), schedule::even()}) {
        for (int round = 0; round < 20; ++round) {
            std::vector<std::atomic<int>> runs(3000);
            parallel_for(
                std::size_t{0}, runs.size(),
                [&](std::size_t i) {
                    if (i % 64 == 0) this_thread::yield();
                    ++runs[i];
                },
                how);
            for (auto const& r : runs)
                if (r.load() != 1) return 1;
        }
    }
    finalize();
    return 0;
}
TEST(job, without_membarrier) {
    TULLE_SKIP_IF_EMULATED("it refuses filters of system calls");
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // before anything of the library has run
    EXPECT_EXIT(std::_Exit(run_without_membarrier()), ::testing::ExitedWithCode(0), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// A program that shares the processors of its machine: workers, and where its OS threads may run,
// follow what others want.
#include "cpus/registry.hpp"
#include "emulated.hpp"
#include "expect_error.hpp"
#include "forked_child.hpp"
#include "forked_fib.hpp"
#include "os/thread.hpp"
#include "resting_process.hpp"
#include "sched/scheduler.hpp"
#include "temporary_path.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle;

constexpr int k_enough = 10'000; // more than there are processors

class cpu_share_test : public ::testing::Test {
protected:
    void SetUp() override {
        TULLE_SKIP_IF_EMULATED("/proc of other processes is the system's");
        if (m_all.size() < 2) GTEST_SKIP() << "one processor";
        setenv("TULLE_CPUS_FILE", m_file.get().c_str(), 1);
        set_option("share_cpus", "1");
    }
    void TearDown() override {
        if (is_initialized()) finalize();
        set_option("share_cpus", "0");
        set_option("workers", "auto");
        unsetenv("TULLE_CPUS_FILE");
        EXPECT_EQ(os::affinity_of(0), m_all);
    }

    // As another process would.
    void visit(resting_process const& as, cpus::wish const& wanted) const {
        cpus::registry r(m_file.get(), as.number());
        EXPECT_TRUE(r.visit(m_all, wanted)) << r.why();
    }
    static void await_workers(int count) {
        // A test that hangs fails.
        while (worker_count() != count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    [[nodiscard]] int all() const { return static_cast<int>(m_all.size()); }

    std::vector<int> m_all = os::affinity_of(0);
    temporary_path m_file;
    resting_process m_other;
};

TEST_F(cpu_share_test, alone_it_is_as_without) {
    initialize();
    EXPECT_EQ(own_cpus(), m_all);
    EXPECT_EQ(worker_count(), all());
    EXPECT_EQ(os::affinity_of(0), m_all);
}

TEST_F(cpu_share_test, workers_and_os_threads_follow_programs_that_come_and_die) {
    initialize();
    visit(m_other, {k_enough, k_enough, 1});
    await_workers(1);
    EXPECT_EQ(own_cpus().size(), 1U);
    while (os::affinity_of(0) != own_cpus())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(fib(15), 610);
    m_other.kill();
    await_workers(all());
    while (os::affinity_of(0) != m_all) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(own_cpus(), m_all);
    EXPECT_EQ(fib(15), 610);
}

TEST_F(cpu_share_test, starts_on_its_part) {
    visit(m_other, {k_enough, k_enough, 1});
    initialize();
    EXPECT_EQ(worker_count(), 1);
    EXPECT_EQ(own_cpus().size(), 1U);
    EXPECT_EQ(os::affinity_of(0), own_cpus());
    std::vector<int> of_another;
    std::thread([&] { of_another = os::affinity_of(0); }).join();
    EXPECT_EQ(of_another, own_cpus()) << "an OS thread that the program makes";
    finalize();
    EXPECT_EQ(os::affinity_of(0), m_all);
}

TEST_F(cpu_share_test, nothing_is_lost_while_it_follows) {
    initialize();
    for (int k = 0; k < 20; ++k) {
        cpus::registry r(m_file.get(), m_other.number());
        ASSERT_TRUE(r.visit(m_all, {1 + k % 2 * k_enough, k_enough + 1, 1}));
        std::vector<thread<long>> threads;
        for (int n = 0; n < 100; ++n) threads.push_back(spawn([] { return fib(8); }));
        EXPECT_EQ(fib(16), 987);
        for (auto& t : threads) ASSERT_EQ(t.join(), 21);
        if (k % 3 == 0) {
            EXPECT_TRUE(r.leave());
        }
    }
    m_other.kill();
    await_workers(all());
}

TEST_F(cpu_share_test, shepherds_have_their_own_processors_again) {
    set_option("shepherds", "2");
    initialize();
    auto const& last = *sched::scheduler::instance().workers()[m_all.size() - 1];
    // relaxed: it does not change
    auto const where = [&last] {
        return os::affinity_of(last.tid.load(std::memory_order_relaxed));
    };
    // relaxed: likewise
    while (last.tid.load(std::memory_order_relaxed) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (where() == m_all) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    auto const before = where();
    visit(m_other, {k_enough, k_enough, 1});
    await_workers(1);
    m_other.kill();
    await_workers(all());
    // A test that hangs fails.
    while (where() != before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    finalize();
    set_option("shepherds", "auto");
}

TEST_F(cpu_share_test, wishes) {
    initialize();
    want_cpus({.most = 1});
    EXPECT_EQ(worker_count(), 1);
    want_cpus({});
    EXPECT_EQ(worker_count(), all());
    set_worker_count(1);
    EXPECT_EQ(worker_count(), 1);
    set_worker_count(0);
    EXPECT_EQ(worker_count(), all());
    visit(m_other, {1, k_enough, 1});
    await_workers(all() / 2 + all() % 2);
    want_cpus({.weight = 1000});
    EXPECT_EQ(worker_count(), all() - 1);
    for (cpu_wish const& bad : {cpu_wish{0, 1, 1},
                                {2, 1, 1},
                                {1, 1, 0},
                                {1, 1, 1001},
                                {1, max_worker_count() + 1, 1},
                                {1, -1, 1}})
        EXPECT_EQ(error_of([&] { want_cpus(bad); }), EINVAL);
    EXPECT_EQ(error_of([] { set_worker_count(-1); }), EINVAL);
    EXPECT_EQ(error_of([] { set_worker_count(max_worker_count() + 1); }), EINVAL);
    EXPECT_EQ(worker_count(), all() - 1);
}

// Beside one who makes it move all the time.
TEST_F(cpu_share_test, what_it_may_use_stays_as_it_was_when_workers_are_wanted_anew) {
    initialize();
    for (int k = 0; k < 50; ++k) {
        visit(m_other, {1 + k % 2, 1 + k % 2, 1000});
        set_worker_count(0);
    }
    m_other.kill();
    await_workers(all());
    EXPECT_EQ(own_cpus(), m_all);
}

TEST_F(cpu_share_test, to_restrict_the_first_thread_restricts_the_program) {
    initialize();
    ASSERT_EQ(os::pin_to(pthread_self(), {m_all.data(), 1}), 0);
    set_worker_count(0);
    EXPECT_EQ(own_cpus(), std::vector<int>(1, m_all[0]));
    EXPECT_EQ(worker_count(), 1);
    ASSERT_EQ(os::pin_to(pthread_self(), m_all), 0);
    set_worker_count(0);
    EXPECT_EQ(own_cpus(), m_all);
    EXPECT_EQ(worker_count(), all());
}

TEST_F(cpu_share_test, the_number_of_workers_that_was_asked_for_is_what_is_wanted) {
    initialize({.workers = 1});
    EXPECT_EQ(worker_count(), 1);
    EXPECT_EQ(own_cpus().size(), 1U);
    cpus::registry r(m_file.get(), m_other.number());
    auto const others = r.visit(m_all, {1, k_enough, 1});
    ASSERT_TRUE(others);
    EXPECT_EQ(others->size(), m_all.size() - 1);
}

TEST_F(cpu_share_test, from_c) {
    ASSERT_EQ(tulle_init(nullptr), 0);
    EXPECT_EQ(tulle_cpus(nullptr, 0), all());
    EXPECT_EQ(tulle_cpus(nullptr, 1), -EINVAL);
    EXPECT_EQ(tulle_cpus_want(1, 1, 1), 0);
    int own[2] = {-1, -1};
    EXPECT_EQ(tulle_cpus(own, 2), 1);
    EXPECT_EQ(own[0], own_cpus().front());
    EXPECT_EQ(own[1], -1);
    EXPECT_EQ(tulle_cpus_want(0, 1, 1), -EINVAL);
    EXPECT_EQ(tulle_cpus_want(1, 0, 1), 0);
    EXPECT_EQ(tulle_worker_count(), all());
}

TEST_F(cpu_share_test, a_program_that_does_not_share_has_its_mask_and_no_wishes) {
    set_option("share_cpus", "0");
    initialize();
    EXPECT_EQ(own_cpus(), m_all);
    EXPECT_EQ(error_of([] { want_cpus({}); }), ENOTSUP);
    EXPECT_FALSE(std::filesystem::exists(m_file.get()));
}

TEST_F(cpu_share_test, without_a_file_of_use_it_warns_and_runs_as_without) {
    std::ofstream(m_file.get()) << "something else that is long enough";
    testing::internal::CaptureStderr();
    initialize();
    EXPECT_NE(
        testing::internal::GetCapturedStderr().find(
            "tulle: warning: processors are not shared: " + m_file.get() + ": it is of another"),
        std::string::npos);
    EXPECT_EQ(worker_count(), all());
    EXPECT_EQ(error_of([] { want_cpus({}); }), ENOTSUP);
    set_worker_count(1);
    EXPECT_EQ(worker_count(), 1);
}

TEST_F(cpu_share_test, a_deterministic_run_does_not_share) {
    set_option("seed", "7");
    initialize();
    EXPECT_EQ(worker_count(), 1);
    EXPECT_FALSE(std::filesystem::exists(m_file.get()));
    finalize();
    set_option("seed", "off");
}

TEST_F(cpu_share_test, a_child_process_shares_as_itself) {
    if (!k_child_may_start_threads || !k_may_fork_beside_threads) GTEST_SKIP() << "a sanitizer";
    initialize();
    visit(m_other, {k_enough, k_enough, 1});
    await_workers(1);
    pid_t const child = ::fork();
    if (child == 0) {
        bool const is_free = os::affinity_of(0) == m_all;
        bool const is_right = fib(10) == 55;
        auto const rows = cpus::registry(m_file.get()).list();
        _exit(is_free && is_right && rows && rows->size() == 3 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(cpu_share_test, may_start_and_end_again) {
    for (int k = 0; k < 5; ++k) {
        initialize();
        EXPECT_EQ(fib(10), 55);
        finalize();
        auto const rows = cpus::registry(m_file.get()).list();
        ASSERT_TRUE(rows);
        EXPECT_TRUE(rows->empty());
    }
}

} // namespace

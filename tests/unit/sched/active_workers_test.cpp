// SPDX-License-Identifier: Apache-2.0
//
// Workers that come and go while the run time runs.
#include "emulated.hpp"
#include "expect_error.hpp"
#include "faked_cgroup.hpp"
#include "forked_fib.hpp"
#include "runtime_fixture.hpp"

#include "os/thread.hpp"
#include "runtime/runtime.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

namespace {

using namespace tulle;
using std::chrono::milliseconds;

constexpr int k_most = 4;

double cpu_seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Processor time that all workers but main have used.
double cpu_seconds_of_others() {
    double sum = 0;
    for (auto const& w : sched::scheduler::instance().workers()) {
        clockid_t clock{};
        if (w->has_os_thread && pthread_getcpuclockid(w->os_thread, &clock) == 0)
            sum += cpu_seconds_of(clock);
    }
    return sum;
}

std::ptrdiff_t os_threads() {
    std::filesystem::directory_iterator const all("/proc/self/task");
    return std::distance(begin(all), end(all));
}

// Runs an OS thread. A join returns a moment before the system takes a thread off its list.
void run_and_leave_the_list() {
    pid_t tid = 0;
    std::thread([&tid] { tid = os::thread_id(); }).join();
    auto const task = "/proc/self/task/" + std::to_string(tid);
    while (std::filesystem::exists(task)) std::this_thread::yield();
}

// A thread on another worker than main's, which stays there until it waits.
template <class F> auto spawn_on_another_worker(F body) {
    std::atomic<bool> started{false};
    auto t = spawn([&started, body] {
        started.store(true, std::memory_order_release);
        return body();
    });
    compute_until(started);
    return t;
}

class worker_count_test : public ::testing::Test {
protected:
    // Exact numbers of OS threads are compared.
    void SetUp() override { set_option("max_substitutes", "off"); }
    void start(int workers, char const* shepherds = "auto") {
        set_option("max_workers", std::to_string(k_most));
        set_option("shepherds", shepherds);
        initialize({.workers = workers});
    }
    void TearDown() override {
        if (is_initialized()) finalize();
        set_option("max_workers", "auto");
        set_option("workers", "auto");
        set_option("shepherds", "auto");
        set_option("max_substitutes", "64");
    }
};

TEST_F(worker_count_test, any_number_up_to_the_maximum) {
    start(2);
    EXPECT_EQ(max_worker_count(), k_most);
    for (int const wanted : {2, 4, 1, 3, 1, 1, 4, 2}) {
        set_worker_count(wanted);
        EXPECT_EQ(worker_count(), wanted);
        EXPECT_EQ(fib(15), 610);
        std::vector<thread<long>> threads;
        for (int k = 0; k < 50; ++k) threads.push_back(spawn([] { return fib(5); }));
        for (auto& t : threads) EXPECT_EQ(t.join(), 5);
    }
    EXPECT_EQ(max_worker_count(), k_most);
}

// The OS thread of a worker that nobody has wanted for a second is at its end, and gives back the
// stack that it runs on, when it is wanted again.
TEST_F(worker_count_test, one_that_is_about_to_end_comes_back) {
    start(2);
    auto const& last = *sched::scheduler::instance().workers()[1];
    set_worker_count(1);
    // relaxed: a test that hangs fails
    while (!last.has_ended.load(std::memory_order_relaxed)) std::this_thread::yield();
    set_worker_count(2);
    spawn_on_another_worker([] { EXPECT_EQ(fib(15), 610); }).join();
}

TEST_F(worker_count_test, nonsense_is_an_error_and_changes_nothing) {
    start(2);
    for (int const bad : {-1, k_most + 1, 1 << 30, -(1 << 30)}) {
        EXPECT_EQ(error_of([bad] { set_worker_count(bad); }), EINVAL);
        EXPECT_EQ(worker_count(), 2);
    }
    EXPECT_EQ(fib(10), 55);
}

TEST_F(worker_count_test, more_workers_than_the_maximum_do_not_start) {
    set_option("max_workers", "2");
    EXPECT_EQ(error_of([] { initialize({.workers = 3}); }), EINVAL);
    EXPECT_FALSE(is_initialized());
    initialize({.workers = 2});
    EXPECT_EQ(max_worker_count(), 2);
}

TEST_F(worker_count_test, default_maximum_is_the_machine) {
    set_option("max_workers", "auto");
    initialize({.workers = 1});
    EXPECT_GE(max_worker_count(), sysconf(_SC_NPROCESSORS_ONLN));
    finalize();
    int const many = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) + 3;
    initialize({.workers = many});
    EXPECT_EQ(max_worker_count(), many);
}

TEST_F(worker_count_test, os_threads_are_made_when_first_wanted) {
    start(1);
    // With the first one ThreadSanitizer makes its own; an emulator's stays in the list.
    if (!is_emulated()) run_and_leave_the_list();
    auto const before = os_threads();
    set_worker_count(3);
    EXPECT_EQ(os_threads(), before + 2);
    set_worker_count(1);
    set_worker_count(3);
    EXPECT_EQ(os_threads(), before + 2);
}

TEST_F(worker_count_test, new_workers_take_work) {
    start(1);
    set_worker_count(2);
    auto t = spawn_on_another_worker([] { return this_thread::worker_index(); });
    EXPECT_EQ(t.join(), 1);
}

TEST_F(worker_count_test, workers_that_stand_by_use_no_processor_time) {
    start(4);
    EXPECT_EQ(fib(20), 6765);
    set_worker_count(1);
    this_thread::sleep_for(milliseconds(50)); // they are on their way
    double const others = cpu_seconds_of_others();
    double const start = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    // All kinds of work that would wake a sleeper.
    while (cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID) < start + 0.1) {
        EXPECT_EQ(fib(10), 55);
        spawn([] { this_thread::yield(); }).join();
        this_thread::sleep_for(std::chrono::microseconds(1));
    }
    EXPECT_LT(cpu_seconds_of_others() - others, 0.01);
    EXPECT_EQ(sched::scheduler::instance().idle().sleeping(), 0U)
        << "a worker that stands by must not be in the idle set";
}

TEST_F(worker_count_test, ready_threads_of_a_worker_that_goes_are_run_by_others) {
    for (int round = 0; round < 50; ++round) {
        start(2);
        std::atomic<bool> spawned{false};
        std::atomic<int> ran{0};
        auto t = spawn_on_another_worker([&] {
            for (int k = 0; k < 100; ++k) spawn_detached([&ran] { ran.fetch_add(1); });
            set_worker_count(1);
            spawned.store(true, std::memory_order_release);
            while (ran.load() != 100) detail::cpu_pause(); // computes on, as it may
        });
        compute_until(spawned);
        while (ran.load() != 100) this_thread::yield();
        t.join();
        finalize();
    }
}

TEST_F(worker_count_test, waiting_threads_go_on_elsewhere) {
    start(4);
    std::vector<one_shot> events(200);
    std::vector<thread<int>> threads;
    for (one_shot& e : events)
        threads.push_back(spawn([&e] {
            e.wait();
            return this_thread::worker_index();
        }));
    this_thread::yield();
    set_worker_count(1);
    for (one_shot& e : events) e.fire();
    for (auto& t : threads) EXPECT_GE(t.join(), 0);
}

TEST_F(worker_count_test, timers_of_a_worker_that_goes_still_fire) {
    for (int round = 0; round < 20; ++round) {
        start(3);
        std::atomic<bool> woken{false};
        auto t = spawn([&woken] {
            this_thread::sleep_for(milliseconds(5));
            woken.store(true, std::memory_order_release);
        });
        std::this_thread::sleep_for(milliseconds(round % 3));
        set_worker_count(2);
        compute_until(woken); // by worker 1: this one does not look
        t.join();
        finalize();
    }
}

TEST_F(worker_count_test, by_any_thread) {
    start(2);
    spawn_on_another_worker([] { set_worker_count(1); }).join();
    EXPECT_EQ(worker_count(), 1);
    std::thread([] { set_worker_count(4); }).join();
    EXPECT_EQ(worker_count(), 4);
    std::vector<std::thread> foreign;
    for (int k = 0; k < 3; ++k)
        foreign.emplace_back([k] {
            for (int round = 0; round < 200; ++round) set_worker_count(1 + (round + k) % k_most);
        });
    EXPECT_EQ(fib(22), 17711);
    for (auto& t : foreign) t.join();
}

TEST_F(worker_count_test, stops_and_starts_again_with_workers_standing_by) {
    for (int round = 0; round < 60; ++round) {
        start(1 + round % 3);
        set_worker_count(k_most);
        EXPECT_EQ(fib(round % 2 == 0 ? 10 : 1), round % 2 == 0 ? 55 : 1);
        set_worker_count(1);
        finalize();
    }
}

// --- shepherds -----------------------------------------------------------------------------------

attributes on(int shepherd) {
    attributes how;
    how.shepherd = shepherd;
    return how;
}

TEST_F(worker_count_test, placed_threads_run_where_there_are_workers) {
    start(2, "2");
    ASSERT_EQ(shepherd_count(), 2);
    for (int round = 0; round < 20; ++round) {
        set_worker_count(1);
        auto a = spawn(on(1), [] {
            this_thread::yield();
            this_thread::sleep_for(std::chrono::microseconds(10));
            return 1;
        });
        EXPECT_EQ(a.join(), 1);
        set_worker_count(2);
        EXPECT_EQ(spawn(on(1), [] { return this_thread::shepherd_index(); }).join(), 1)
            << "as soon as it has a worker again";
    }
}

TEST_F(worker_count_test, shepherds_stay_and_share_the_workers) {
    start(2, "4");
    EXPECT_EQ(shepherd_count(), 2);
    set_worker_count(4);
    EXPECT_EQ(shepherd_count(), 2);
    for (auto const& s : sched::scheduler::instance().shepherds()) {
        EXPECT_EQ(s->workers.size(), 2U);
        EXPECT_FALSE(s->cpus.empty());
    }
}

// --- what the machine allows now -----------------------------------------------------------------

int follow(faked_cgroup& group, char const* cpu_max) {
    group.set(cpu_max);
    EXPECT_EQ(runtime::instance::set_workers(0, group.files()), 0);
    return worker_count();
}

TEST_F(worker_count_test, follows_a_quota_that_changes) {
    start(1);
    faked_cgroup group("max");
    int const allowed = static_cast<int>(os::read_allowance().cpus.size());
    EXPECT_EQ(follow(group, "50000"), 1);
    EXPECT_EQ(follow(group, "150000"), std::min(2, allowed));
    EXPECT_EQ(follow(group, "max"), std::min(allowed, k_most));
    EXPECT_EQ(follow(group, "100000"), 1);
    EXPECT_EQ(fib(15), 610);
}

class affinity_test : public worker_count_test {
protected:
    void SetUp() override {
        ASSERT_EQ(sched_getaffinity(0, sizeof m_before, &m_before), 0);
        if (CPU_COUNT(&m_before) < 2) GTEST_SKIP() << "needs two processors";
        worker_count_test::SetUp(); // nor does main leave the OS thread whose processors are set
        start(2);
    }
    void TearDown() override {
        sched_setaffinity(0, sizeof m_before, &m_before);
        worker_count_test::TearDown();
    }
    static cpu_set_t mask_of_worker(std::size_t index) {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        EXPECT_EQ(pthread_getaffinity_np(sched::scheduler::instance().workers()[index]->os_thread,
                                         sizeof mask, &mask),
                  0);
        return mask;
    }

    cpu_set_t m_before{};
};

TEST_F(affinity_test, workers_follow_a_mask_that_changes) {
    std::size_t last = 0;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        last = CPU_ISSET(cpu, &m_before) ? cpu : last;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    set_worker_count(0);
    EXPECT_EQ(worker_count(), 1);
    cpu_set_t mask = mask_of_worker(1);
    EXPECT_TRUE(CPU_EQUAL(&mask, &one));
    EXPECT_EQ(fib(15), 610);
    ASSERT_EQ(sched_setaffinity(0, sizeof m_before, &m_before), 0);
    set_worker_count(0);
    EXPECT_EQ(worker_count(), std::min(CPU_COUNT(&m_before), k_most));
    mask = mask_of_worker(1);
    EXPECT_TRUE(CPU_EQUAL(&mask, &m_before));
}

// --- first use -----------------------------------------------------------------------------------

void first_use_with_too_many_workers() {
    setenv("TULLE_WORKERS", "4", 1);
    setenv("TULLE_MAX_WORKERS", "2", 1);
    static_cast<void>(worker_count());
}

void spawn_with_too_many_workers() {
    setenv("TULLE_WORKERS", "4", 1);
    setenv("TULLE_MAX_WORKERS", "2", 1);
    try {
        spawn([] {}).join();
    } catch (std::system_error const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        std::_Exit(1);
    }
}

TEST(worker_count_death_test, first_spawn_with_more_workers_than_the_maximum) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(spawn_with_too_many_workers(), ::testing::ExitedWithCode(1),
                "cannot start, as TULLE_WORKERS is greater than TULLE_MAX_WORKERS: Invalid");
}

TEST(worker_count_death_test, first_use_with_more_workers_than_the_maximum) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(first_use_with_too_many_workers(),
                 "tulle: cannot start: TULLE_WORKERS is greater than TULLE_MAX_WORKERS");
}

void use_with_few_workers_at_most() {
    setenv("TULLE_MAX_WORKERS", "1", 1);
    set_worker_count(1); // starts the run time
    std::_Exit(worker_count() == 1 && max_worker_count() == 1 &&
                       error_of([] { set_worker_count(2); }) == EINVAL
                   ? 0
                   : 1);
}

TEST(worker_count_exit_test, maximum_from_the_environment) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(use_with_few_workers_at_most(), ::testing::ExitedWithCode(0), "");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Nobody waits behind a worker that computes or sits in the kernel. Times are generous: they tell a
// wait that ends by itself from one that lasts until the workers are done.
#include "diag/snapshot.hpp"
#include "expect_error.hpp"
#include "faked_cgroup.hpp"
#include "os/clock.hpp"
#include "runtime/runtime.hpp"
#include "sched/scheduler.hpp"
#include "silent_poller.hpp"
#include "system_wake_up.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace tulle {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto k_busy = 40s;     // what workers compute at most
constexpr auto k_too_late = 20s; // to have waited for the watcher

// With one and with two workers.
class watcher_test : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        if (is_initialized()) finalize();
        initialize({.workers = GetParam()});
    }
    void TearDown() override {
        finalize();
        set_option("workers", "auto");
    }

    // As many as there are workers, and some more.
    void occupy(std::function<void()> const& work, int more = 0) {
        for (int k = 0; k < GetParam() + more; ++k) busy.push_back(spawn(work));
    }
    void compute() {
        occupy([this] {
            ++begun;
            auto const end = clock::now() + k_busy;
            while (!done && clock::now() < end) {}
        });
    }
    void join_busy() {
        done = true;
        for (auto& t : busy) t.join();
    }

    std::atomic<bool> done{false};
    std::atomic<int> begun{0};
    std::vector<thread<void>> busy;
};

// Reads of it block until it is released.
class full_stop {
public:
    full_stop() { EXPECT_EQ(::pipe(m_ends), 0); }
    full_stop(full_stop const&) = delete;
    full_stop& operator=(full_stop const&) = delete;
    ~full_stop() {
        release();
        ::close(m_ends[0]);
    }
    void block() const {
        char byte = 0;
        EXPECT_EQ(::read(m_ends[0], &byte, 1), 0); // the end of the pipe
    }
    void release() {
        if (m_ends[1] >= 0) ::close(m_ends[1]);
        m_ends[1] = -1;
    }

private:
    int m_ends[2] = {-1, -1};
};

TEST_P(watcher_test, a_ready_thread_does_not_wait_for_workers_that_compute) {
    auto waiter = spawn([this] {
        compute();
        while (begun < GetParam()) this_thread::yield();
        auto const begin = clock::now();
        spawn([] {}).join(); // runs here
        latch opened(1);
        auto other = spawn([&opened] { opened.count_down(); });
        opened.wait();
        other.join();
        EXPECT_LT(clock::now() - begin, k_too_late);
        done = true;
    });
    waiter.join();
    join_busy();
}

TEST_P(watcher_test, a_timed_wait_ends_while_all_workers_compute) {
    spawn([this] {
        compute();
        this_thread::yield();
        auto const begin = clock::now();
        latch never(1);
        EXPECT_FALSE(never.wait_for(30ms));
        EXPECT_LT(clock::now() - begin, k_too_late);
        done = true;
    }).join();
    join_busy();
}

TEST_P(watcher_test, a_timed_wait_of_main_ends_while_all_workers_compute) {
    compute();
    auto const begin = clock::now();
    latch never(1);
    EXPECT_FALSE(never.wait_for(30ms));
    EXPECT_LT(clock::now() - begin, k_too_late);
    join_busy();
}

// Each of them is done so soon that no worker counts as one that computes.
TEST_P(watcher_test, timed_waits_of_main_end_while_there_are_records_to_steal) {
    auto const last = clock::now() + k_busy;
    std::function<void(int)> const compute_tree = [&](int depth) {
        auto const end = clock::now() + 2ms;
        while (clock::now() < end) {}
        if (depth == 0 || done || clock::now() > last) return;
        parallel_invoke([&] { compute_tree(depth - 1); }, [&] { compute_tree(depth - 1); });
    };
    busy.push_back(spawn([&] { compute_tree(30); }));
    auto const begin = clock::now();
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(busy.front().join_for(50ms));
    EXPECT_LT(clock::now() - begin, k_too_late);
    join_busy();
}

TEST_P(watcher_test, a_deadline_of_a_token_ends_a_foreign_wait_while_all_workers_compute) {
    compute();
    std::thread foreign([this] {
        while (begun < GetParam()) std::this_thread::sleep_for(1ms);
        auto const begin = clock::now();
        cancellation_source stop;
        stop.request_stop_after(30ms);
        latch never(1);
        EXPECT_FALSE(never.wait(stop.get_token()));
        EXPECT_LT(clock::now() - begin, k_too_late);
        done = true;
    });
    for (auto& t : busy) t.join();
    foreign.join();
}

TEST_P(watcher_test, a_thread_runs_while_all_workers_are_in_the_kernel) {
    full_stop stop;
    occupy([&stop] { stop.block(); });
    auto const begin = clock::now();
    spawn(attributes{.stack_size = 64 * 1024}, [&] {
        EXPECT_LT(clock::now() - begin, k_too_late);
        stop.release();
    }).join();
    join_busy();
}

std::uint64_t found_in_kernel() { return sched::scheduler::instance().watching().view().in_kernel; }

// A report stops workers in a signal handler. Something waits, so that the watcher looks.
TEST_P(watcher_test, a_worker_that_a_report_has_stopped_is_not_stuck) {
    spawn([this] {
        std::uint64_t const before = found_in_kernel();
        occupy(
            [] {
                diag::halt const here;
                std::this_thread::sleep_for(50ms);
            },
            1);
        for (auto& t : busy) t.join();
        EXPECT_EQ(found_in_kernel(), before);
        busy.clear();
        // Whoever is there without a report is found.
        occupy(
            [before] {
                while (found_in_kernel() == before) std::this_thread::sleep_for(5ms);
            },
            1);
        for (auto& t : busy) t.join();
    }).join();
}

TEST_P(watcher_test, a_forked_thread_runs_while_its_parent_is_in_the_kernel) {
    full_stop stop;
    spawn(attributes{.stack_size = 64 * 1024}, [&stop] {
        auto child = fork([&stop] { stop.release(); });
        stop.block();
        child.join();
    }).join();
}

TEST_P(watcher_test, threads_run_while_main_is_in_the_kernel) {
    full_stop stop;
    auto other = spawn(attributes{.stack_size = 64 * 1024}, [&stop] { stop.release(); });
    stop.block();
    other.join();
}

TEST_P(watcher_test, main_goes_on_while_its_worker_is_in_the_kernel_with_another_thread) {
    full_stop stop;
    latch opened(1);
    occupy(
        [&] {
            opened.count_down(1);
            stop.block();
        },
        1 - GetParam());
    opened.wait(); // the thread may run on worker 0 now
    auto const begin = clock::now();
    spawn(attributes{.stack_size = 64 * 1024}, [] {}).join();
    EXPECT_LT(clock::now() - begin, k_too_late);
    stop.release();
    join_busy();
}

struct substitutes : watcher_test {
    // Those of an earlier test: while one is there, none is needed anew.
    static void let_substitutes_go() {
        auto const give_up = clock::now() + 20s;
        auto const& watching = sched::scheduler::instance().watching();
        while (watching.view().substitutes != 0 && clock::now() < give_up)
            this_thread::sleep_for(5ms);
    }
    // All workers sit in the kernel until a thread has run elsewhere.
    void block_all_workers() {
        full_stop stop;
        occupy([&] {
            ++begun;
            stop.block();
        });
        spawn(attributes{.stack_size = 64 * 1024}, [&] {
            while (begun < GetParam()) this_thread::yield();
            stop.release();
        }).join();
        join_busy();
        busy.clear();
        begun = 0;
    }
    // Until that has taken a new substitute: one that is about to go may take the thread along.
    void need_substitutes() {
        let_substitutes_go();
        auto const needed = [] {
            return sched::scheduler::instance().watching().view().substituted;
        };
        auto const before = needed();
        for (int tries = 0; tries < 20 && needed() == before; ++tries) block_all_workers();
        EXPECT_GT(needed(), before);
    }
};

TEST_P(substitutes, are_not_among_the_workers_that_may_be_disabled) {
    need_substitutes();
    auto const known = static_cast<int>(sched::scheduler::instance().workers().size());
    ASSERT_GT(known, GetParam());
    for (int index = GetParam(); index < known; ++index)
        EXPECT_EQ(error_of([index] { disable_worker(index); }), EINVAL);
}

TEST_P(substitutes, go_when_nobody_needs_them) {
    need_substitutes();
    auto& s = sched::scheduler::instance();
    auto const give_up = clock::now() + 20s;
    auto const has_extra = [&s] {
        return s.active().running() != s.active().count() || s.watching().view().substitutes != 0;
    };
    while (has_extra() && clock::now() < give_up) this_thread::sleep_for(20ms);
    EXPECT_FALSE(has_extra());
    EXPECT_EQ(worker_count(), GetParam());
}

// They found work all the time, and so took processors from the workers for ever.
TEST_P(substitutes, go_while_there_is_work_enough_for_all) {
    need_substitutes();
    auto& s = sched::scheduler::instance();
    auto const give_up = clock::now() + 20s;
    std::atomic<bool> is_over{false};
    std::vector<thread<void>> workload;
    for (int k = 0; k < 64; ++k)
        workload.push_back(spawn([&is_over] {
            while (!is_over) this_thread::yield();
        }));
    while (s.watching().view().substitutes != 0 && clock::now() < give_up) this_thread::yield();
    EXPECT_EQ(s.watching().view().substitutes, 0);
    is_over = true;
    for (auto& t : workload) t.join();
}

TEST_P(watcher_test, thousands_of_blocking_calls) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    constexpr int k_bytes = 300;
    std::atomic<int> received{0};
    std::vector<thread<void>> readers;
    for (int k = 0; k < k_bytes; ++k)
        readers.push_back(spawn([&] {
            char byte = 0;
            if (::read(ends[0], &byte, 1) == 1) ++received;
        }));
    for (int k = 0; k < k_bytes; ++k) EXPECT_EQ(::write(ends[1], "x", 1), 1);
    for (auto& t : readers) t.join();
    EXPECT_EQ(received, k_bytes);
    ::close(ends[0]);
    ::close(ends[1]);
}

// --- how soon: medians, ten times what is expected, as other programs may have the processors ----

template <class Time> clock::duration median_of(int tries, Time time) {
    std::vector<clock::duration> times;
    for (int k = 0; k < tries; ++k) times.push_back(time());
    auto const middle = times.begin() + tries / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

// Where the system takes long to wake an OS thread, the watcher and a substitute are late as well.
template <class Time> void expect_median_below(clock::duration limit, Time time) {
    clock::duration median{};
    for (int again = 0; again < 4; ++again) {
        median = median_of(20, time);
        if (median < limit || median < limit + 5 * median_system_wake_up(1s)) return;
    }
    ADD_FAILURE() << std::chrono::duration_cast<std::chrono::microseconds>(median).count() << " us";
}

clock::duration time_of_timed_wait() {
    auto const begin = clock::now();
    latch never(1);
    EXPECT_FALSE(never.wait_for(50ms));
    return clock::now() - begin;
}

TEST_P(watcher_test, timed_waits_beside_computing_workers_end_soon) {
    compute();
    while (begun < GetParam()) this_thread::yield();
    expect_median_below(100ms, time_of_timed_wait);
    join_busy();
}

TEST_P(watcher_test, timed_waits_of_a_foreign_thread_beside_computing_workers_end_soon) {
    compute();
    // main's worker is in the kernel
    std::thread([] { expect_median_below(100ms, time_of_timed_wait); }).join();
    join_busy();
}

TEST_P(watcher_test, a_thread_behind_workers_that_compute_starts_soon) {
    compute();
    while (begun < GetParam()) this_thread::yield();
    expect_median_below(10ms, [] {
        auto const begin = clock::now();
        clock::duration started{};
        latch opened(1);
        auto t = spawn(attributes{.stack_size = 64 * 1024}, [&] { // not by its joiner
            started = clock::now() - begin;
            opened.count_down();
        });
        opened.wait();
        t.join();
        return started;
    });
    join_busy();
}

TEST_P(watcher_test, a_thread_runs_soon_while_all_workers_are_in_the_kernel) {
    expect_median_below(10ms, [] {
        full_stop stop;
        std::atomic<int> blocked{0};
        std::vector<thread<void>> readers;
        for (int k = 0; k < GetParam(); ++k)
            readers.push_back(spawn(attributes{.stack_size = 64 * 1024}, [&] {
                blocked.fetch_add(1);
                stop.block();
            }));
        while (blocked < GetParam()) this_thread::yield();
        auto const begin = clock::now();
        clock::duration started{};
        spawn(attributes{.stack_size = 64 * 1024}, [&] { started = clock::now() - begin; }).join();
        stop.release();
        for (auto& t : readers) t.join();
        return started;
    });
}

// --- what must not be in its way -----------------------------------------------------------------

TEST_P(watcher_test, a_full_number_of_workers_leaves_room_for_substitutes) {
    finalize();
    set_option("max_workers", std::to_string(GetParam()));
    initialize({.workers = GetParam()});
    ASSERT_EQ(max_worker_count(), GetParam());
    full_stop stop;
    occupy([&stop] { stop.block(); });
    auto const begin = clock::now();
    spawn(attributes{.stack_size = 64 * 1024}, [&] {
        EXPECT_LT(clock::now() - begin, k_too_late);
        stop.release();
    }).join();
    join_busy();
    EXPECT_GT(sched::scheduler::instance().watching().view().substituted, 0U);
}

// The program's workers are as many as the quota of its control group allows.
TEST_P(watcher_test, under_a_quota) {
    finalize();
    set_option("max_workers", "2");
    initialize({.workers = 2});
    faked_cgroup const group(std::to_string(GetParam() * 100'000));
    ASSERT_EQ(runtime::instance::set_workers(0, group.files()), 0);
    if (worker_count() != GetParam()) GTEST_SKIP() << "there are not so many processors";
    compute();
    while (begun < GetParam()) this_thread::yield();
    auto const begin = clock::now();
    latch never(1);
    EXPECT_FALSE(never.wait_for(30ms));
    spawn(attributes{.stack_size = 64 * 1024}, [] {}).join();
    EXPECT_LT(clock::now() - begin, k_too_late);
    EXPECT_EQ(worker_count(), GetParam());
    join_busy();
}

// What is to be looked at besides threads.
class fake_poller final : public silent_poller {
public:
    bool poll() noexcept override {
        m_polls.fetch_add(1);
        return false;
    }
    [[nodiscard]] bool needs_watcher() const noexcept override { return true; }
    [[nodiscard]] int polls() const { return m_polls.load(); }

private:
    std::atomic<int> m_polls{0};
};

TEST_P(watcher_test, polls_for_others_while_all_workers_compute) {
    static fake_poller others; // searches may still look at it
    auto& s = sched::scheduler::instance();
    s.set_idle_poller(&others);
    compute();
    int const before = others.polls();
    auto const give_up = clock::now() + k_too_late;
    while (others.polls() < before + 20 && clock::now() < give_up) {} // main computes, too
    EXPECT_GE(others.polls(), before + 20);
    join_busy();
    s.set_idle_poller(nullptr);
}

INSTANTIATE_TEST_SUITE_P(workers, watcher_test, ::testing::Values(1, 2));
INSTANTIATE_TEST_SUITE_P(workers, substitutes, ::testing::Values(1, 2));

// False: the thread that blocks had been taken by another worker.
bool main_waits_behind_a_blocked_thread() {
    pid_t const home = ::gettid();
    full_stop stop;
    latch opened(1);
    pid_t blocked = 0;
    auto const begin = clock::now();
    std::thread later([&stop] {
        std::this_thread::sleep_for(200ms);
        stop.release();
    });
    auto other = spawn([&] {
        blocked = ::gettid();
        opened.count_down();
        stop.block();
    });
    opened.wait();
    EXPECT_EQ(::gettid(), home);
    bool const is_behind = blocked == home;
    EXPECT_TRUE(!is_behind || clock::now() - begin >= 150ms);
    later.join();
    other.join();
    return is_behind;
}

TEST(main_moves, not_if_it_shall_not) {
    if (is_initialized()) finalize();
    set_option("main_moves", "0");
    initialize({.workers = 1});
    while (!main_waits_behind_a_blocked_thread()) {}
    finalize();
}

TEST(main_moves, to_another_os_thread) {
    if (is_initialized()) finalize();
    initialize({.workers = 1});
    pid_t const home = ::gettid();
    full_stop stop;
    latch opened(1);
    auto other = spawn([&] {
        opened.count_down();
        stop.block();
    });
    opened.wait();
    EXPECT_NE(::gettid(), home);
    stop.release();
    other.join();
    finalize();
    EXPECT_EQ(::gettid(), home);
}

// One that its joiner, main, ran in its frame went with main to another shepherd.
TEST(main_moves, without_the_placed_thread_that_it_joins) {
    if (is_initialized()) finalize();
    set_option("shepherds", "2");
    initialize({.workers = 2});
    ASSERT_EQ(this_thread::shepherd_index(), 0);
    attributes here;
    here.shepherd = 0;
    full_stop stop;
    latch opened(1);
    auto walker = spawn(here, [&] {
        opened.wait();
        int const shepherd = this_thread::shepherd_index();
        stop.release();
        return shepherd;
    });
    auto blocked = spawn(here, [&] {
        opened.count_down();
        stop.block();
    });
    EXPECT_EQ(walker.join(), 0);
    blocked.join();
    finalize();
    set_option("shepherds", "auto");
}

// Who else looks costs no processor time while nothing is to be seen.
TEST(watcher_idle, costs_next_to_nothing) {
    if (is_initialized()) finalize();
    initialize({.workers = 2});
    // Until it has started.
    while (sched::scheduler::instance().watching().tid() == 0) this_thread::sleep_for(1ms);
    { // something happens first
        full_stop stop;
        auto blocked = spawn([&stop] { stop.block(); });
        spawn(attributes{.stack_size = 64 * 1024}, [&stop] { stop.release(); }).join();
        blocked.join();
    }
    auto const used = [] {
        timespec t{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
    };
    std::chrono::nanoseconds least = 1h;
    for (int again = 0; again < 4 && least > 5ms; ++again) {
        auto const before = used();
        this_thread::sleep_for(1s);
        least = std::min<std::chrono::nanoseconds>(least, used() - before);
    }
    EXPECT_LE(least, 5ms); // half a per cent, a hundred times what is expected
    finalize();
}

// --- deadlines that a worker leaves to others ----------------------------------------------------

// Three workers, with main's among them, that sleep before the first of these.
class left_deadlines : public ::testing::Test {
protected:
    void SetUp() override {
        if (is_initialized()) finalize();
        set_option("deadlock", "off"); // workers that search for one see the deadlines
        initialize({.workers = 3});
    }
    void TearDown() override {
        finalize();
        set_option("deadlock", "abort");
        set_option("workers", "auto");
    }
    // Main waits while an OS thread of the test's own does it.
    static void from_outside(std::function<void()> const& action) {
        latch over(1);
        std::thread outside([&] {
            action();
            over.count_down();
        });
        over.wait();
        outside.join();
    }
    static void await_sleepers(std::uint32_t count) {
        auto const give_up = clock::now() + 20s;
        auto& idle = sched::scheduler::instance().idle();
        while (idle.sleeping() != count && clock::now() < give_up) std::this_thread::sleep_for(1ms);
        EXPECT_EQ(idle.sleeping(), count);
    }
    // Also to give memory back no worker wakes any more.
    static void await_long_sleep() {
        await_sleepers(3);
        std::this_thread::sleep_for(200ms);
    }
    // The workers that fell asleep last take threads that compute, until the wait is over.
    static void wait_beside_computing(int computing) {
        await_long_sleep();
        std::atomic<bool> done{false};
        std::atomic<int> begun{0};
        auto waiter = spawn([&done] {
            auto const begin = clock::now();
            latch never(1);
            EXPECT_FALSE(never.wait_for(200ms));
            EXPECT_LT(clock::now() - begin, k_too_late);
            done = true;
        });
        await_sleepers(3);
        std::vector<thread<void>> busy;
        for (int k = 0; k < computing; ++k) {
            busy.push_back(spawn([&] {
                ++begun;
                auto const end = clock::now() + k_busy;
                while (!done && clock::now() < end) {}
            }));
            while (begun <= k) std::this_thread::yield();
        }
        EXPECT_FALSE(done); // else nothing was tested
        for (auto& t : busy) t.join();
        waiter.join();
    }
};

// Of these, the one that had slept until the deadline computed, and the others slept on.
TEST_F(left_deadlines, are_met_while_the_worker_that_kept_the_time_computes) {
    from_outside([] { wait_beside_computing(1); });
}
TEST_F(left_deadlines, are_met_while_a_worker_sleeps_that_does_not_know_of_them) {
    from_outside([] { wait_beside_computing(2); });
}

long sleeps_of_the_watcher() {
    int const tid = sched::scheduler::instance().watching().tid();
    std::ifstream status("/proc/self/task/" + std::to_string(tid) + "/status");
    std::string const name = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name)) return std::stol(line.substr(name.size()));
    return -1;
}

// The worker that keeps the time runs one of them every millisecond, and leaves the other deadline.
TEST_F(left_deadlines, do_not_wake_the_watcher_each_time) {
    constexpr int k_ticks = 200;
    while (sched::scheduler::instance().watching().tid() == 0) this_thread::sleep_for(1ms);
    ASSERT_GE(sleeps_of_the_watcher(), 0);
    long least = k_ticks;
    // Not by main: of that the watcher is told each time that it becomes ready.
    from_outside([&least] {
        await_long_sleep();
        latch opened(1);
        auto late = spawn([&opened] { EXPECT_TRUE(opened.wait_for(1h)); });
        auto ticking = spawn([&least] {
            for (int again = 0; again < 4 && least > k_ticks / 10; ++again) {
                long const before = sleeps_of_the_watcher();
                for (int k = 0; k < k_ticks; ++k) this_thread::sleep_for(1ms);
                least = std::min(least, sleeps_of_the_watcher() - before);
            }
        });
        ticking.join();
        opened.count_down();
        late.join();
    });
    EXPECT_LE(least, k_ticks / 10);
}

// Though a worker sleeps that wakes in time, as when it told the watcher and sleeps again.
TEST_F(left_deadlines, are_told_to_the_watcher_once) {
    auto& watching = const_cast<sched::watcher&>(sched::scheduler::instance().watching());
    while (watching.tid() == 0) this_thread::sleep_for(1ms);
    from_outside([&watching] {
        await_long_sleep();
        latch opened(1);
        auto late = spawn([&opened] { EXPECT_TRUE(opened.wait_for(1h)); });
        await_long_sleep();
        std::uint64_t const deadline = os::monotonic_ns() + 1'000'000'000'000;
        long before = -1;
        for (std::uint64_t k = 0; k < 20; ++k) {
            watching.expect(deadline + k);
            std::this_thread::sleep_for(5ms);
            if (k == 0) before = sleeps_of_the_watcher();
        }
        EXPECT_LE(sleeps_of_the_watcher() - before, 2);
        opened.count_down();
        late.join();
    });
}

int watched_deterministic_run() {
    ::setenv("TULLE_SEED", "7", 1);
    initialize({});
    if (!sched::scheduler::instance().is_deterministic()) return 2;
    return sched::scheduler::instance().watching().tid() != 0 ||
                   sched::scheduler::instance().chosen().max_substitutes != 0
               ? 1
               : 0;
}
TEST(watcher_off, in_deterministic_runs) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // options are read once in a process
    EXPECT_EXIT(std::_Exit(watched_deterministic_run()), ::testing::ExitedWithCode(0), "");
}

TEST(watcher_off, nobody_looks) {
    if (is_initialized()) finalize();
    set_option("max_substitutes", "off");
    initialize({.workers = 2});
    EXPECT_EQ(sched::scheduler::instance().watching().tid(), 0);
    EXPECT_EQ(spawn([] { return 7; }).join(), 7);
    finalize();
    set_option("max_substitutes", "64");
    set_option("workers", "auto");
}

} // namespace
} // namespace tulle

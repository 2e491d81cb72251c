// SPDX-License-Identifier: Apache-2.0
// Nobody waits behind a worker that computes or sits in the kernel. Times are generous: they tell a wait
// that ends by itself from one that lasts until the workers are done.
#include "sched/scheduler.hpp"

#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <unistd.h>

namespace tulle {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto k_busy = 5s;     // what workers compute at most
constexpr auto k_too_late = 2s; // to have waited for the watcher

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

TEST_P(watcher_test, substitutes_go_when_nobody_needs_them) {
    {
        full_stop stop;
        occupy([&stop] { stop.block(); });
        spawn(attributes{.stack_size = 64 * 1024}, [&stop] { stop.release(); }).join();
        join_busy();
    }
    auto& s = sched::scheduler::instance();
    EXPECT_GT(s.watching().view().substituted, 0U);
    auto const give_up = clock::now() + 20s;
    auto const has_extra = [&s] { return s.running_workers() != s.active_workers() || s.watching().view().substitutes != 0; };
    while (has_extra() && clock::now() < give_up) this_thread::sleep_for(20ms);
    EXPECT_FALSE(has_extra());
    EXPECT_EQ(worker_count(), GetParam());
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

INSTANTIATE_TEST_SUITE_P(workers, watcher_test, ::testing::Values(1, 2));

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

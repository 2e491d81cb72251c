// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "memory_probe.hpp"
#include "runtime_fixture.hpp"
#include "silent_poller.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace tulle;
using std::chrono::steady_clock;

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto const seconds = [](timeval const& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Processor time of all workers while main sleeps in the kernel for as long as it computed before.
double idle_share() {
    double const begin = cpu_seconds();
    auto const start = steady_clock::now();
    while (cpu_seconds() < begin + 0.1) {}
    auto const length = std::max<steady_clock::duration>(steady_clock::now() - start,
                                                         std::chrono::milliseconds(100));
    double const busy = cpu_seconds();
    std::this_thread::sleep_for(length);
    return (cpu_seconds() - busy) / (busy - begin);
}

// The least of some: on a slow machine workers may be on their way to sleep for longer than the
// test waits before.
void expect_idle() {
    double least = idle_share();
    for (int again = 0; again < 4 && least >= 0.1; ++again) least = std::min(least, idle_share());
    EXPECT_LT(least, 0.1);
}

class idle_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, idle_test, ::testing::Values(1, 2, 4));

TEST_P(idle_test, idle_workers_use_no_processor_time) {
    scope s;
    for (int k = 0; k < 1000; ++k) s.spawn([] { this_thread::yield(); });
    s.join();
    // Past the time after which memory is given back.
    this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_idle();
}

TEST_P(idle_test, waiting_threads_use_no_processor_time) {
    std::vector<one_shot> events(100);
    std::vector<thread<void>> threads;
    for (one_shot& e : events) threads.push_back(spawn([&e] { e.wait(); }));
    auto sleeper = spawn([] { this_thread::sleep_for(std::chrono::milliseconds(400)); });
    this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_idle();
    for (one_shot& e : events) e.fire();
    for (auto& t : threads) t.join();
    sleeper.join();
}

// The caller's worker is awake, and all others sleep, soon.
bool others_fall_asleep(sched::scheduler& s) {
    auto const give_up = steady_clock::now() + std::chrono::seconds(20);
    while (s.idle().sleeping() + 1 < s.workers().size() && steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return s.idle().sleeping() + 1 == s.workers().size();
}

// A worker that has found work asks this before it leaves a fence out: of whoever may make work
// and is not asleep it must not be said that there is nobody.
TEST_P(idle_test, whoever_is_awake_or_outside_may_make_work) {
    static silent_poller poller; // searches may still look at it
    auto& s = sched::scheduler::instance();
    ASSERT_TRUE(others_fall_asleep(s));
    EXPECT_FALSE(s.others_make_work(false));
    EXPECT_TRUE(s.others_make_work(true)); // main, if the caller were one of those that sleep
    s.set_idle_poller(&poller);
    EXPECT_TRUE(s.others_make_work(false));
    s.set_idle_poller(nullptr);

    std::atomic<bool> is_there{false}, may_end{false};
    std::thread guest([&] { // it forks, and so it has a deque
        scope children;
        children.spawn([] {});
        is_there = true;
        while (!may_end) std::this_thread::yield();
        children.join();
    });
    while (!is_there) std::this_thread::yield();
    EXPECT_TRUE(s.others_make_work(false));
    may_end = true;
    guest.join();
    if (GetParam() < 2) return;

    is_there = may_end = false;
    auto awake = spawn([&] {
        is_there = true;
        while (!may_end) std::this_thread::yield();
    });
    while (!is_there) std::this_thread::yield();
    EXPECT_TRUE(s.others_make_work(false));
    may_end = true;
    awake.join();
    ASSERT_TRUE(others_fall_asleep(s));
    EXPECT_FALSE(s.others_make_work(false));
}

// Each woke another worker, which had nothing to do but to sleep until the same deadline.
TEST_P(idle_test, limited_waits_of_one_thread_wake_no_other_worker) {
    constexpr std::uint32_t k_waits = 200;
    auto& s = sched::scheduler::instance();
    std::uint32_t least = k_waits;
    spawn([&] { // main waits for it, so that its worker is one of those that sleep
        latch never(1);
        for (int again = 0; again < 4 && least > k_waits / 10; ++again) {
            ASSERT_TRUE(others_fall_asleep(s));
            std::uint32_t const before = s.idle().wakes();
            for (std::uint32_t k = 0; k < k_waits; ++k)
                EXPECT_FALSE(never.wait_for(std::chrono::microseconds(200)));
            least = std::min(least, s.idle().wakes() - before);
        }
    })
        .join();
    EXPECT_LE(least, k_waits / 10);
}

TEST_P(idle_test, foreign_thread_wakes_an_idle_worker) {
    if (GetParam() < 2) GTEST_SKIP() << "the only worker is main, which waits in the system";
    for (int round = 0; round < 100; ++round) {
        std::thread([] { EXPECT_EQ(spawn([] { return 1; }).join(), 1); }).join();
    }
}

TEST_P(idle_test, sleeper_is_woken_in_the_middle_of_a_nap) {
    // Bursts of work that is gone again at once make workers nap; none of it may be lost.
    for (int round = 0; round < 2000; ++round) {
        auto t = spawn([] { return 1; });
        if (round % 7 == 0) std::this_thread::yield();
        ASSERT_EQ(t.join(), 1);
    }
    std::atomic<bool> ran{false};
    auto t = spawn([&ran] { ran = true; });
    if (GetParam() > 1) compute_until(ran);
    t.join();
}

// A search lasts as long as the sleeps here, so that whoever searched after each would compute all
// the time.
TEST(idle, a_worker_that_only_runs_threads_whose_time_has_come_does_not_search) {
    set_option("spin_us", "10000");
    set_option("max_substitutes", "off");
    initialize({.workers = 1});
    this_thread::sleep_for(std::chrono::milliseconds(10)); // after other work
    double least = 1;
    for (int again = 0; again < 4 && least >= 0.1; ++again) {
        double const before = cpu_seconds();
        for (int k = 0; k < 30; ++k) this_thread::sleep_for(std::chrono::milliseconds(10));
        least = std::min(least, cpu_seconds() - before);
    }
    EXPECT_LT(least, 0.1); // of 0.3
    finalize();
}

TEST(ready_burst, ends_with_any_other_decision) {
    sched::ready_burst burst;
    EXPECT_FALSE(burst.is_all(1)); // nothing has fired yet
    burst.add(100, 2);
    EXPECT_TRUE(burst.is_all(100));
    EXPECT_TRUE(burst.is_all(104));
    EXPECT_FALSE(burst.is_all(105));
    burst.add(UINT32_MAX, 1); // the count begins anew
    EXPECT_TRUE(burst.is_all(1));
    EXPECT_FALSE(burst.is_all(2));
}

TEST(ready_burst, grows_until_it_ends) {
    sched::ready_burst burst;
    burst.begin(100);
    EXPECT_TRUE(burst.is_all(100));
    burst.add(100, 2);
    burst.add(104, 1);
    EXPECT_EQ(burst.size(), 3U);
    EXPECT_TRUE(burst.is_all(106));
    burst.add(107, 4);
    EXPECT_EQ(burst.size(), 4U);
    burst.begin(115);
    EXPECT_EQ(burst.size(), 0U);
    EXPECT_FALSE(burst.is_all(116));
}

long sleeps_of_this_process() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
}

// Their deadlines are 10 us apart, for 80 ms.
TEST(idle, deadlines_close_to_each_other_are_met_together) {
    constexpr int k_threads = 8000;
    set_option("max_substitutes", "off"); // a watcher sleeps too
    initialize({.workers = 1});
    latch all_awake(k_threads);
    auto const first = steady_clock::now() + std::chrono::milliseconds(300);
    for (int k = 0; k < k_threads; ++k) {
        spawn_detached([&, when = first + k * std::chrono::microseconds(10)] {
            this_thread::sleep_until(when);
            all_awake.count_down();
        });
    }
    this_thread::sleep_until(first);
    long const before = sleeps_of_this_process();
    all_awake.wait();
    EXPECT_LT(sleeps_of_this_process() - before, 800); // of 400, if each takes 200 us
    finalize();
}

#if !defined(TULLE_ANNOTATE_ADDRESS) &&                                                            \
    !defined(TULLE_ANNOTATE_THREAD) // their shadow memory is not given back
// A trim takes place 50 ms after the last work; the test waits for its effect, not for a time.
bool falls_below(std::size_t limit) {
    auto const give_up = steady_clock::now() + std::chrono::seconds(20);
    while (resident_bytes() > limit && steady_clock::now() < give_up)
        this_thread::sleep_for(std::chrono::milliseconds(100)); // long enough to count as idle
    return resident_bytes() <= limit;
}

TEST_P(idle_test, memory_of_threads_that_have_ended_is_given_back) {
    TULLE_SKIP_IF_EMULATED("its own memory is counted, too");
    constexpr int k_threads = 20000;
    std::size_t const before = resident_bytes();
    {
        std::vector<one_shot> events(k_threads);
        std::vector<thread<void>> threads;
        std::atomic<int> waiting{0};
        for (one_shot& e : events) {
            threads.push_back(spawn([&] {
                waiting.fetch_add(1);
                e.wait();
            }));
        }
        while (waiting.load() < k_threads) this_thread::yield();
        // A page each, but for those that tests before this one have left.
        EXPECT_GT(resident_bytes(), before + k_threads * 2000UL);
        for (one_shot& e : events) e.fire();
        for (auto& t : threads) t.join();
    }
    EXPECT_TRUE(falls_below(before + k_threads * 800UL))
        << resident_bytes() - before << " bytes more than before";
}
#endif

} // namespace

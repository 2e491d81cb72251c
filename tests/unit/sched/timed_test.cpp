// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "runtime_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace tulle;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

class timed_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, timed_test, ::testing::Values(1, 2, 4));

TEST_P(timed_test, sleeps_at_least_as_long_as_asked) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 50; ++k) {
        threads.push_back(spawn([k] {
            auto const deadline = steady_clock::now() + std::chrono::microseconds(100 * k);
            this_thread::sleep_until(deadline);
            ASSERT_GE(steady_clock::now(), deadline);
        }));
    }
    for (auto& t : threads) t.join();
}

// The numbers of sleepers in the order in which they wake; the last one first, each a while later.
std::vector<int> order_of_deadlines(std::chrono::milliseconds apart) {
    std::mutex lock;
    std::vector<int> order;
    std::vector<thread<void>> threads;
    auto const start = steady_clock::now();
    for (int k = 0; k < 4; ++k) {
        threads.push_back(spawn([&, k] {
            this_thread::sleep_until(start + apart * (4 - k));
            std::lock_guard const held(lock);
            order.push_back(k);
        }));
    }
    for (auto& t : threads) t.join();
    return order;
}

// Two of them come at once where the system has kept the workers from running between.
TEST_P(timed_test, later_deadlines_wake_later) {
    std::vector<int> order;
    std::vector<int> const expected{3, 2, 1, 0};
    for (auto apart = 60ms; apart < 8s && order != expected; apart *= 4)
        order = order_of_deadlines(apart);
    EXPECT_EQ(order, expected);
}

TEST_P(timed_test, deadline_in_the_past_returns) {
    this_thread::sleep_for(-1h);
    this_thread::sleep_for(0s);
    this_thread::sleep_until(steady_clock::time_point::min());
    auto t = spawn([] { this_thread::sleep_for(-1s); });
    t.join();
}

TEST_P(timed_test, timed_join_gives_up_and_can_be_repeated) {
    one_shot event;
    auto t = spawn([&event] {
        event.wait();
        return 9;
    });
    EXPECT_FALSE(t.try_join());
    EXPECT_FALSE(t.join_for(0s));
    EXPECT_FALSE(t.join_for(1ms));
    EXPECT_FALSE(t.join_until(steady_clock::now() + 1ms));
    event.fire();
    EXPECT_TRUE(t.join_for(1h));
    EXPECT_TRUE(t.try_join());
    EXPECT_EQ(t.join(), 9);
}

// A duration that does not fit into the clock's range counted as one in the past.
TEST_P(timed_test, timeout_beyond_the_range_of_the_clock_is_for_ever) {
    one_shot event;
    auto t = spawn([&event] { event.wait(); });
    auto firing = spawn([&event] {
        for (int k = 0; k < 100; ++k) this_thread::yield();
        event.fire();
    });
    EXPECT_TRUE(t.join_for(std::chrono::hours::max()));
    EXPECT_TRUE(t.join_until(steady_clock::time_point::max()));
    EXPECT_TRUE(t.join_for(std::chrono::duration<double>(1e300)));
    t.join();
    firing.join();
}

// Points that the unit of the clock cannot hold counted as past, or as some other time.
TEST_P(timed_test, points_beyond_the_range_of_the_clock) {
    using days = std::chrono::duration<std::int64_t, std::ratio<86400>>;
    using day = std::chrono::time_point<std::chrono::system_clock, days>;
    constexpr std::int64_t k_year = 365;
    constexpr std::uint64_t k_year_ns = k_year * 86'400'000'000'000U;
    std::uint64_t const now = detail::now_ns();
    for (std::int64_t const years : {400, 600, 700, 8000, 100'000})
        EXPECT_EQ(detail::deadline_at(day(days(years * k_year))), detail::k_no_deadline) << years;
    for (std::int64_t const years : {-100, -300, -600, -700, -8000, 0})
        EXPECT_EQ(detail::deadline_at(day(days(years * k_year))), 0U) << years;
    EXPECT_EQ(detail::deadline_at(day::max()), detail::k_no_deadline);
    EXPECT_EQ(detail::deadline_at(day::max() - days(1)), detail::k_no_deadline);
    EXPECT_EQ(detail::deadline_at(day::min()), 0U);
    // Not beyond: in 2100 and in 2270.
    for (std::int64_t const years : {130, 300}) {
        std::uint64_t const at = detail::deadline_at(day(days(years * k_year)));
        EXPECT_GT(at, now + 20 * k_year_ns) << years;
        EXPECT_LT(at, now + 285 * k_year_ns) << years;
    }
    EXPECT_EQ(detail::deadline_at(steady_clock::time_point::max() - 1ns), detail::k_no_deadline);
    EXPECT_EQ(detail::deadline_at(steady_clock::time_point::min()), 0U);
}

// The waiter that was woken at once had left the frame in which its timer was about to be queued.
TEST_P(timed_test, timed_join_that_ends_with_the_thread) {
    std::uint64_t const seed = test_seed();
    base::rng random(seed);
    for (int round = 0; round < 3000; ++round) {
        std::uint32_t const spins = random.below(200);
        auto t = spawn([spins] {
            for (std::uint32_t k = 0; k < spins; ++k) detail::cpu_pause();
            if (spins % 2 == 0) this_thread::yield();
            return spins;
        });
        while (!t.join_for(std::chrono::nanoseconds(random.below(20000)))) {}
        ASSERT_EQ(t.join(), spins);
    }
}

TEST_P(timed_test, many_sleepers) {
    std::vector<thread<void>> threads;
    std::atomic<int> woken{0};
    for (int k = 0; k < 2000; ++k) {
        threads.push_back(spawn([&woken, k] {
            this_thread::sleep_for(std::chrono::microseconds(k % 97 * 10));
            woken.fetch_add(1);
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(woken.load(), 2000);
}

TEST_P(timed_test, foreign_thread_sleeps_and_joins_in_time) {
    one_shot event;
    auto t = spawn([&event] { event.wait(); });
    std::atomic<bool> ended{false};
    std::thread outside([&] {
        auto const deadline = steady_clock::now() + 2ms;
        this_thread::sleep_until(deadline);
        EXPECT_GE(steady_clock::now(), deadline);
        EXPECT_FALSE(t.join_for(1ms));
        event.fire();
        EXPECT_TRUE(t.join_for(1h));
        ended = true;
    });
    yield_until(ended);
    outside.join();
    t.join();
}

// Only workers fire timers: a foreign thread waited as long as they computed.
TEST(timed_foreign, timeout_ends_though_all_workers_compute) {
    set_option("max_substitutes", "off"); // one might run the thread
    initialize({.workers = 1});
    std::atomic<bool> given_up{false};
    auto t = spawn([] {});
    std::thread outside([&] {
        EXPECT_FALSE(t.join_for(1ms));
        given_up = true;
    });
    compute_until(given_up);
    outside.join();
    t.join();
    finalize();
    set_option("max_substitutes", "64");
}

// --- many sleepers -------------------------------------------------------------------------------

// Each sleeps until a time of its own, spread evenly, in no order, over a time that begins when all
// have been made.
class crowd {
public:
    using clock = std::chrono::steady_clock;

    // How late 99 of 100 were at most.
    clock::duration lateness(std::size_t count) {
        m_late.assign(count, clock::duration::max());
        for (auto until_first = std::chrono::milliseconds(500); !run(clock::now() + until_first);
             until_first *= 2) {}
        auto const at = m_late.begin() + static_cast<std::ptrdiff_t>(count * 99 / 100);
        std::nth_element(m_late.begin(), at, m_late.end());
        return *at;
    }

private:
    static constexpr std::chrono::nanoseconds k_spread = std::chrono::seconds(2);
    // A prime: its multiples visit all numbers below another one.
    static constexpr std::size_t k_stride = 7'368'787;

    // False: they were not all asleep before the first was to wake.
    bool run(clock::time_point first) {
        std::size_t const count = m_late.size();
        latch all_have_begun(static_cast<std::ptrdiff_t>(count));
        latch all_have_woken(static_cast<std::ptrdiff_t>(count));
        for (std::size_t k = 0; k < count; ++k) {
            auto const due = first + k_spread / count * (k * k_stride % count);
            spawn_detached([&, due, &late = m_late[k]] {
                all_have_begun.count_down();
                this_thread::sleep_until(due);
                late = clock::now() - due;
                all_have_woken.count_down();
            });
        }
        all_have_begun.wait();
        bool const in_time = clock::now() < first;
        all_have_woken.wait();
        return in_time;
    }

    std::vector<clock::duration> m_late;
};

// How late the system wakes an OS thread of its own meanwhile.
class lateness_of_system {
public:
    using clock = std::chrono::steady_clock;

    ~lateness_of_system() { end(); }
    // Of 99 of 100 sleeps at most.
    clock::duration end() {
        m_done.store(true);
        if (m_thread.joinable()) m_thread.join();
        if (m_late.empty()) return {};
        auto const at = m_late.begin() + static_cast<std::ptrdiff_t>(m_late.size() * 99 / 100);
        std::nth_element(m_late.begin(), at, m_late.end());
        return *at;
    }

private:
    void sleep() {
        // A while in which nothing runs makes all late whose time comes within it.
        for (auto due = clock::now(); !m_done.load(); due += std::chrono::milliseconds(2)) {
            std::this_thread::sleep_until(due);
            m_late.push_back(clock::now() - due);
        }
    }

    std::atomic<bool> m_done{false};
    std::vector<clock::duration> m_late;
    std::thread m_thread{[this] { sleep(); }};
};

// Where the system itself wakes OS threads late, lateness says nothing of the library.
TEST(many_sleepers, wake_in_time) {
    TULLE_SKIP_IF_EMULATED("it is too slow");
#if defined(TULLE_ANNOTATE_ADDRESS) || defined(TULLE_ANNOTATE_THREAD) // they know each stack
    constexpr std::size_t k_sleepers = 2'000;
#else
    constexpr std::size_t k_sleepers = 100'000;
#endif
    initialize({.workers = 2});
    int in_time = 0, counted = 0;
    for (int k = 0; k < 5 && counted < 3 && in_time < 2; ++k) { // the median of three
        lateness_of_system system;
        auto const late = crowd().lateness(k_sleepers);
        bool const is_disturbed = system.end() > std::chrono::milliseconds(10);
        std::cout << "99 of 100 are late by at most "
                  << std::chrono::duration_cast<std::chrono::microseconds>(late).count() << " us"
                  << (is_disturbed ? ", and so is the system\n" : "\n");
        bool const is_late = late >= std::chrono::milliseconds(50);
        if (is_disturbed && is_late) continue;
        ++counted;
        in_time += static_cast<int>(!is_late);
    }
    finalize();
    if (counted < 3 && in_time < 2) GTEST_SKIP() << "the system wakes OS threads late";
    EXPECT_EQ(in_time, 2);
}

} // namespace

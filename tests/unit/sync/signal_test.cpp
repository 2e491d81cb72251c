// SPDX-License-Identifier: Apache-2.0
#include <tulle/signal.hpp>
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(signal, smoke) {
    tulle::signal s;
    EXPECT_TRUE(s.try_wait());
    s.wait();
    s.add_signalers(2);
    EXPECT_FALSE(s.try_wait());
    s.notify();
    EXPECT_FALSE(s.wait_for(-1s));
    s.notify();
    EXPECT_TRUE(s.wait_for(-1s));
    s.wait();
}

TEST(signal, refuses_bad_counts) {
    EXPECT_THROW(tulle::signal(0x80000000U), std::invalid_argument);
}

TEST(signal, waits_for_all_and_sees_what_they_did) {
    constexpr int k_children = 50;
    tulle::signal s(k_children);
    int parts[k_children] = {};
    for (int i = 0; i < k_children; ++i) {
        tulle::spawn_detached([&, i] {
            if (i % 7 == 0) tulle::this_thread::yield();
            parts[i] = 1;
            s.notify();
        });
    }
    s.wait();
    int sum = 0;
    for (int const p : parts) sum += p;
    EXPECT_EQ(sum, k_children);
}

TEST(signal, foreign_threads_wait_and_notify) {
    tulle::signal there(1);
    tulle::signal back(1);
    int value = 0;
    std::thread foreign([&] {
        there.wait();
        ++value;
        back.notify();
    });
    auto t = tulle::spawn([&] {
        ++value;
        there.notify();
        back.wait();
        return value;
    });
    EXPECT_EQ(t.join(), 2);
    foreign.join();
}

TEST(signal, timed_waits) {
    tulle::signal s(1);
    auto const begin = clock_type::now();
    EXPECT_FALSE(tulle::spawn([&s] { return s.wait_for(10ms); }).join());
    EXPECT_GE(clock_type::now() - begin, 10ms);
    auto waiter = tulle::spawn([&s] { return s.wait_until(clock_type::now() + 1h); });
    EXPECT_FALSE(waiter.join_for(2ms));
    s.notify();
    EXPECT_TRUE(waiter.join());
}

TEST(signal, a_wait_that_timed_out_can_be_repeated) {
    tulle::signal s(1);
    std::atomic<int> rounds{0};
    auto t = tulle::spawn([&] {
        while (!s.wait_for(200us)) ++rounds;
    });
    while (rounds < 3) tulle::this_thread::sleep_for(1ms);
    s.notify();
    t.join();
    EXPECT_TRUE(s.try_wait());
}

TEST(signal, can_be_used_again) {
    tulle::signal s;
    for (int i = 0; i < 2000; ++i) {
        s.add_signalers(2);
        for (int k = 0; k < 2; ++k) tulle::spawn_detached([&s] { s.notify(); });
        s.wait();
        EXPECT_TRUE(s.try_wait());
    }
}

TEST(signal, may_be_destroyed_when_it_is_zero) {
    for (int i = 0; i < 3000; ++i) {
        auto s = std::make_unique<tulle::signal>(1);
        auto t = tulle::spawn([p = s.get()] { p->notify(); });
        if (i % 2 == 0)
            s->wait();
        else
            // It returns at once where the time is over by then.
            while (!s->wait_for(1us)) tulle::this_thread::yield();
        s.reset();
        t.join();
    }
}

TEST(signal_death, ends_the_program_when_notified_too_often) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::signal s(1);
    s.notify();
    EXPECT_DEATH(s.notify(), "more often than its count");
}

TEST(signal_death, ends_the_program_at_a_second_waiter) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            tulle::signal s(1);
            auto first = tulle::spawn([&s] { s.wait(); });
            tulle::this_thread::sleep_for(20ms);
            auto second = tulle::spawn([&s] { s.wait(); });
            second.join();
        },
        "a second thread waits");
}

TEST(signal_death, ends_the_program_when_there_are_too_many_signalers) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    tulle::signal s(0x7FFFFFFFU);
    EXPECT_DEATH(s.add_signalers(1), "more signalers");
}

} // namespace

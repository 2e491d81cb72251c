// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <chrono>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
namespace this_thread = tulle::this_thread;

TEST(this_thread_test, can_be_asked_before_the_run_time_starts) {
    EXPECT_EQ(this_thread::worker_index(), -1);
    EXPECT_EQ(this_thread::shepherd_index(), -1);
    this_thread::yield();
    EXPECT_FALSE(tulle::is_initialized());
    EXPECT_NE(this_thread::get_id(), 0U); // starts it
    EXPECT_EQ(this_thread::worker_index(), 0);
    tulle::finalize();
    EXPECT_EQ(this_thread::worker_index(), -1);
}

TEST(this_thread_test, sleeps_without_a_run_time) {
    auto const deadline = std::chrono::steady_clock::now() + 1ms;
    this_thread::sleep_until(deadline);
    EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST(this_thread_test, clocks_and_units_of_all_kinds) {
    tulle::initialize({.workers = 2});
    tulle::spawn([] {
        auto const wall = std::chrono::system_clock::now() + 2ms;
        this_thread::sleep_until(wall);
        EXPECT_GE(std::chrono::system_clock::now(), wall);
        auto const start = std::chrono::steady_clock::now();
        this_thread::sleep_for(std::chrono::duration<double, std::milli>(1.5));
        EXPECT_GE(std::chrono::steady_clock::now() - start, 1500us);
        this_thread::sleep_for(std::chrono::duration<float>(-1.0F));
    }).join();
    tulle::finalize();
}

TEST(this_thread_test, places_are_within_bounds) {
    tulle::initialize({.workers = 3});
    for (int k = 0; k < 100; ++k) {
        tulle::spawn([] {
            EXPECT_GE(this_thread::worker_index(), 0);
            EXPECT_LT(this_thread::worker_index(), tulle::worker_count());
            EXPECT_GE(this_thread::shepherd_index(), 0);
            EXPECT_LT(this_thread::shepherd_index(), tulle::shepherd_count());
        }).join();
    }
    tulle::finalize();
}

TEST(this_thread_test, names_belong_to_threads) {
    this_thread::set_name("main");
    tulle::attributes how;
    how.name = "child";
    auto t = tulle::spawn(how, [] {
        auto const before = this_thread::name();
        this_thread::yield();
        return before + "/" + this_thread::name();
    });
    EXPECT_EQ(t.join(), "child/child");
    EXPECT_EQ(this_thread::name(), "main");
    tulle::finalize();
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include <tulle/tulle.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

TEST(timer, calls_once_at_its_time) {
    std::atomic<int> calls{0};
    auto const begin = clock_type::now();
    clock_type::time_point called;
    auto t = tulle::timer::after(3ms, [&] {
        called = clock_type::now();
        ++calls;
    });
    t.wait();
    EXPECT_GE(called - begin, 3ms);
    EXPECT_EQ(calls.load(), 1);
    EXPECT_FALSE(t.cancel());
    auto at = tulle::timer::at(clock_type::now() - 1s, [&] { ++calls; });
    at.wait();
    EXPECT_EQ(calls.load(), 2);
}

TEST(timer, cancelled_it_calls_nothing) {
    std::atomic<int> calls{0};
    auto t = tulle::timer::after(1h, [&] { ++calls; });
    EXPECT_TRUE(t.cancel());
    EXPECT_FALSE(t.cancel());
    t.wait();
    {
        auto const dropped = tulle::timer::after(1h, [&] { ++calls; });
    }
    EXPECT_FALSE(tulle::timer().cancel());
    EXPECT_EQ(calls.load(), 0);
}

// Where the first call was to come at once, the next came sooner: the periods were not its own.
TEST(timer, periods_are_counted_from_a_first_call_at_once) {
    for (int k = 0; k < 5; ++k) {
        tulle::latch two(2);
        std::atomic<int> calls{0};
        auto const begin = clock_type::now();
        auto t = tulle::timer::every(0ms, 40ms, [&] {
            if (++calls <= 2) two.count_down();
        });
        two.wait();
        EXPECT_GE(clock_type::now() - begin, 40ms);
        tulle::this_thread::sleep_for(7ms); // so that each begins at another part of a period
    }
}

TEST(timer, calls_again_and_again) {
    tulle::latch five(5);
    std::atomic<int> calls{0};
    auto const begin = clock_type::now();
    auto t = tulle::timer::every(1ms, [&] {
        if (++calls <= 5) five.count_down();
    });
    five.wait();
    EXPECT_GE(clock_type::now() - begin, 5ms);
    static_cast<void>(t.cancel());
    t.wait();
    int const after = calls;
    tulle::this_thread::sleep_for(3ms);
    EXPECT_EQ(calls.load(), after);
}

TEST(timer, a_period_beyond_the_clock_is_never_over) {
    std::atomic<int> calls{0};
    tulle::latch first(1);
    auto t = tulle::timer::every(0ms, std::chrono::hours::max(), [&] {
        if (++calls == 1) first.count_down();
    });
    first.wait();
    tulle::this_thread::sleep_for(3ms); // a period that has become short is over often
    EXPECT_TRUE(t.cancel());
    t.wait();
    EXPECT_EQ(calls, 1);
}

TEST(timer, a_slow_call_is_not_made_up_for) {
    std::atomic<int> calls{0};
    auto const begin = clock_type::now();
    tulle::latch two(2);
    auto t = tulle::timer::every(100us, [&] {
        if (calls++ == 0) tulle::this_thread::sleep_for(20ms);
        if (calls <= 2) two.count_down();
    });
    two.wait();
    static_cast<void>(t.cancel());
    t.wait();
    EXPECT_LE(calls.load(), 2 + (clock_type::now() - begin - 20ms) / 100us);
}

TEST(timer, destroyed_it_waits_for_its_call) {
    std::atomic<bool> done{false};
    tulle::latch begun(1);
    {
        auto const t = tulle::timer::after(0ms, [&] {
            begun.count_down();
            tulle::this_thread::sleep_for(3ms);
            done = true;
        });
        begun.wait();
    }
    EXPECT_TRUE(done);
}

TEST(timer, may_be_destroyed_by_its_own_call) {
    tulle::latch done(1);
    std::optional<tulle::timer> t;
    tulle::latch set(1);
    t = tulle::timer::every(1us, [&] {
        set.wait();
        t.reset();
        done.count_down();
    });
    set.count_down();
    done.wait();
}

TEST(timer, moves) {
    std::atomic<int> calls{0};
    std::vector<tulle::timer> timers;
    for (int k = 0; k < 500; ++k)
        timers.push_back(tulle::timer::after(std::chrono::microseconds(k), [&calls] { ++calls; }));
    for (auto& t : timers) t.wait();
    EXPECT_EQ(calls.load(), 500);
    auto a = tulle::timer::after(1h, [&calls] { ++calls; });
    a = tulle::timer::after(0s, [&calls, owned = std::make_unique<int>(3)] { calls += *owned; });
    a.wait();
    EXPECT_EQ(calls.load(), 503);
}

TEST(timer, cancellation_races_with_the_call) {
    for (int k = 0; k < 300; ++k) {
        std::atomic<int> calls{0};
        auto t = tulle::timer::after(std::chrono::microseconds(k % 30), [&] { ++calls; });
        if (k % 2 == 0) tulle::this_thread::yield();
        bool const cancelled = t.cancel();
        t.wait();
        EXPECT_EQ(calls.load(), cancelled ? 0 : 1);
    }
}

} // namespace

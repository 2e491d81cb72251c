// SPDX-License-Identifier: Apache-2.0
// What qthread_finalize makes of a sleep that took too long.
#include "compat/qthread/library/lateness.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

struct told {
    static std::chrono::steady_clock::time_point now() { return s_now; }
    static std::chrono::nanoseconds computed() { return s_computed; }
    static int worker() { return s_worker; }

    inline static std::chrono::steady_clock::time_point s_now;
    inline static std::chrono::nanoseconds s_computed;
    inline static int s_worker = 0;
};

class lateness : public testing::Test {
protected:
    void SetUp() override {
        told::s_now = {};
        told::s_computed = 0ns;
        told::s_worker = 0;
    }
    // Whether a sleep tells something during which all this happens.
    bool sleep(std::chrono::nanoseconds takes, std::chrono::nanoseconds computes, int worker = 0) {
        told::s_worker = 0;
        told::s_computed = 0ns;
        late.begin();
        told::s_now += takes;
        told::s_computed += computes;
        told::s_worker = worker;
        return late.is_telling();
    }
    // How often in a row.
    int sleep_again_and_again(std::chrono::nanoseconds computes, int worker = 0) {
        int telling = 0;
        while (telling < 100 && sleep(20ms, computes, worker)) ++telling;
        return telling;
    }

    tulle::compat::lateness<told> late{10ms};
};

TEST_F(lateness, who_is_in_time_tells_nothing) {
    EXPECT_FALSE(sleep(10ms, 10ms));
    EXPECT_FALSE(sleep(1ms, 20ms));
}

TEST_F(lateness, an_os_thread_that_has_computed_tells_each_time) {
    EXPECT_EQ(sleep_again_and_again(15ms), 100);
}

TEST_F(lateness, one_that_has_not_tells_a_few_times) {
    EXPECT_EQ(sleep_again_and_again(1ms), 10);
    late.something_gets_on();
    EXPECT_EQ(sleep_again_and_again(1ms), 10);
}

// The processor time is another OS thread's then, which has computed before.
TEST_F(lateness, who_comes_back_on_another_worker_tells_a_few_times) {
    EXPECT_EQ(sleep_again_and_again(1h, 1), 10);
}

} // namespace

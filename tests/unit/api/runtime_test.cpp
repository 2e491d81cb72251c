// SPDX-License-Identifier: Apache-2.0
#include "expect_error.hpp"

#include <tulle/tulle.hpp>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

namespace {

TEST(runtime_test, explicit_life) {
    EXPECT_FALSE(tulle::is_initialized());
    tulle::initialize({.workers = 2, .stack_size = 128 << 10});
    EXPECT_TRUE(tulle::is_initialized());
    EXPECT_EQ(tulle::worker_count(), 2);
    EXPECT_GE(tulle::shepherd_count(), 1);
    tulle::finalize();
    EXPECT_FALSE(tulle::is_initialized());
}

TEST(runtime_test, default_is_at_least_one_worker) {
    tulle::initialize();
    EXPECT_GE(tulle::worker_count(), 1);
    tulle::finalize();
}

TEST(runtime_test, errors_say_which_call_failed) {
    expect_system_error(&tulle::finalize, EINVAL, "tulle::finalize: the run time does not run");
    expect_system_error([] { tulle::initialize({.workers = -1}); }, EINVAL,
                        "tulle::initialize: workers is negative");
    expect_system_error([] { tulle::initialize({.workers = 1'000'000}); }, EINVAL,
                        "tulle::initialize: workers or stack_size are out of range");
    tulle::initialize({.workers = 1});
    expect_system_error([] { tulle::initialize(); }, EALREADY,
                        "tulle::initialize: the run time has started, perhaps by an earlier use");
    expect_system_error([] { tulle::set_worker_count(-1); }, EINVAL,
                        "tulle::set_worker_count: -1 is not from 0 to " +
                            std::to_string(tulle::max_worker_count()) +
                            " (the option max_workers)");
    std::thread([] {
        expect_system_error(&tulle::finalize, EPERM,
                            "tulle::finalize: this thread has not initialized");
    }).join();
    expect_system_error([] { tulle::set_option("workers", "2"); }, EALREADY,
                        "tulle::set_option: the run time has started");
    tulle::finalize();
}

TEST(runtime_test, refused_options_are_named) {
    try {
        tulle::set_option("stack_size", "plenty");
        FAIL() << "nothing was thrown";
    } catch (std::invalid_argument const& e) {
        EXPECT_NE(std::string(e.what()).find("stack_size"), std::string::npos);
        EXPECT_NE(std::string(e.what()).find("plenty"), std::string::npos);
    }
}

void use_with_workers_from_the_environment() {
    setenv("TULLE_WORKERS", "3", 1);
    std::_Exit(tulle::worker_count() == 3 ? 0 : 1);
}
void use_with_nonsense_in_the_environment() {
    setenv("TULLE_WORKERS", "many", 1);
    setenv("TULLE_STACK_SIZE", "large", 1);
    std::_Exit(tulle::worker_count() >= 1 ? 0 : 1);
}

TEST(runtime_exit_test, environment) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(use_with_workers_from_the_environment(), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(use_with_nonsense_in_the_environment(), ::testing::ExitedWithCode(0),
                "tulle: warning: TULLE_WORKERS.*many.*; taken is .*\n"
                "tulle: warning: TULLE_STACK_SIZE.*large");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
//
// No test meets what one before it has left, whichever comes first (tests/support/isolation.cpp).
// Each looks, then leaves as much as it can. It says something only where they share a process:
// `scripts/whole unit.runtime`, or the program itself.
#include "runtime/runtime.hpp"

#include <tulle/tulle.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

namespace {

using namespace tulle;
using base::option_id;

class traces : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(order, traces, testing::Values(1, 2, 3));

int number_of_allowed_cpus() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    return CPU_COUNT(&cpus);
}
rlim_t limit_of_core_files() {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    return limit.rlim_cur;
}
bool blocks_signal(int signal) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
}

// As the first of them found it.
struct first_view {
    int cpus = number_of_allowed_cpus();
    rlim_t core = limit_of_core_files();
    bool blocks_usr2 = blocks_signal(SIGUSR2);
    std::string style = GTEST_FLAG_GET(death_test_style);
};
first_view const& at_first() {
    static first_view const seen;
    return seen;
}

void leave_much() {
    setenv("TULLE_TEST_TRACE", "left", 1);
    set_option("spin_us", "77");
    initialize({.workers = 3});
    spawn_detached([] { this_thread::yield(); });
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_cur == 0 ? std::min<rlim_t>(1, limit.rlim_max) : 0;
    setrlimit(RLIMIT_CORE, &limit);
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, nullptr);
}

TEST_P(traces, of_one_test_are_gone_in_the_next) {
    first_view const& first = at_first();
    EXPECT_FALSE(is_initialized());
    EXPECT_EQ(std::getenv("TULLE_TEST_TRACE"), nullptr);
    EXPECT_NE(runtime::the().options().number(option_id::spin_us), 77U);
    EXPECT_NE(runtime::the().options().get(option_id::workers).source, base::option_source::api);
    EXPECT_EQ(std::string(GTEST_FLAG_GET(death_test_style)), first.style);
    EXPECT_EQ(number_of_allowed_cpus(), first.cpus);
    EXPECT_EQ(limit_of_core_files(), first.core);
    EXPECT_EQ(blocks_signal(SIGUSR2), first.blocks_usr2);
    leave_much();
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "diag/process_copy.hpp"
#include "emulated.hpp"

#include "os/child_program.hpp"

#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

// How a copy of this process ends that does this.
int end_of_copy(void (*write)(void*), void* argument) {
    int const child = os::copy_process();
    if (child == 0) diag::write_and_end_copy(write, argument);
    int status = -1;
    EXPECT_EQ(os::wait_for_copy(child, status, true), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(process_copy, writes_and_ends) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto const write = [](void* to) {
        volatile char large[100'000]; // more than a handler's stack has
        large[0] = 'x';
        char const letter = large[0];
        if (::write(static_cast<int*>(to)[1], &letter, 1) != 1) std::abort();
    };
    EXPECT_EQ(end_of_copy(write, ends), 0);
    char letter = 0;
    EXPECT_EQ(::read(ends[0], &letter, 1), 1);
    EXPECT_EQ(letter, 'x');
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(process_copy, a_crash_ends_the_copy_only) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    for (int const fault : {SIGSEGV, SIGABRT}) {
        int number = fault;
        EXPECT_EQ(
            end_of_copy([](void* what) { ::kill(::getpid(), *static_cast<int*>(what)); }, &number),
            1);
    }
}

TEST(process_copy, runs_no_handler_of_the_program) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    auto* const before = std::signal(SIGUSR1, [](int) { ::_exit(9); });
    EXPECT_EQ(end_of_copy([](void*) { ::kill(::getpid(), SIGUSR1); }, nullptr), 0);
    std::signal(SIGUSR1, before);
}

} // namespace

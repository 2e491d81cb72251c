// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "forked_child.hpp"
#include "os/process.hpp"
#include "resting_process.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace tulle::os;

TEST(process, has_one_start_as_long_as_it_lives) {
    TULLE_SKIP_IF_EMULATED("/proc/self/stat is made up");
    resting_process other;
    auto const start = start_of_process(other.number());
    EXPECT_NE(start, 0U);
    EXPECT_GE(start, start_of_process(getpid()));
    EXPECT_EQ(start_of_process(other.number()), start);
    other.kill();
    EXPECT_EQ(start_of_process(other.number()), 0U) << "a zombie";
    auto const number = other.number();
    other.end();
    EXPECT_EQ(start_of_process(number), 0U);
}

// As pthread_exit makes it, which a program may call in main.
TEST(process, lives_on_when_its_first_thread_has_ended) {
    TULLE_SKIP_IF_EMULATED("/proc/self/stat is made up");
    if (!k_child_may_start_threads || !k_may_fork_beside_threads) GTEST_SKIP() << "a sanitizer";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t const child = fork();
    if (child == 0) {
        close(ends[1]);
        std::thread([end = ends[0]] {
            char byte = 0;
            _exit(read(end, &byte, 1) == 0 ? 0 : 1); // the end of the test
        }).detach();
        // This thread only; without the unwinding of pthread_exit, which the test program would
        // catch.
        syscall(SYS_exit, 0);
    }
    close(ends[0]);
    auto const is_zombie = [child] {
        std::ifstream file("/proc/" + std::to_string(child) + "/stat");
        return std::string(std::istreambuf_iterator<char>(file), {}).find(") Z ") !=
               std::string::npos;
    };
    while (!is_zombie()) usleep(1000);
    EXPECT_NE(start_of_process(child), 0U);
    close(ends[1]);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(process, that_does_not_exist_has_none) {
    EXPECT_EQ(start_of_process(0), 0U);
    EXPECT_EQ(start_of_process(-1), 0U);
}

TEST(process, has_the_namespace_of_its_maker) {
    auto const here = process_namespace();
    EXPECT_NE(here, 0U);
    pid_t const child = fork();
    if (child == 0) _exit(process_namespace() == here ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

} // namespace

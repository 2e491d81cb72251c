// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/process.hpp"
#include "resting_process.hpp"

#include <gtest/gtest.h>
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

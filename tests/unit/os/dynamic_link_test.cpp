// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/dynamic_link.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Runs itself again, with LD_BIND_NOW as given; the answer of that process.
bool answer_with(char const* bind_now) {
    pid_t const child = fork();
    if (child == 0) {
        setenv("LD_BIND_NOW", bind_now, 1);
        setenv("TULLE_TEST_ANSWER", "1", 1);
        execl("/proc/self/exe", "dynamic_link_test", "--gtest_filter=dynamic_link.answers",
              nullptr);
        _exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_TRUE(WEXITSTATUS(status) == 40 || WEXITSTATUS(status) == 41) << WEXITSTATUS(status);
    return WEXITSTATUS(status) == 41;
}

TEST(dynamic_link, answers) {
    if (std::getenv("TULLE_TEST_ANSWER") == nullptr) GTEST_SKIP() << "for the other tests";
    _exit(tulle::os::binds_at_start() ? 41 : 40);
}

TEST(dynamic_link, is_asked_for_by_the_environment) {
    TULLE_SKIP_IF_EMULATED("the kernel cannot start a program of its own accord");
    EXPECT_TRUE(answer_with("1"));
}

TEST(dynamic_link, programs_that_link_the_library_bind_at_start) {
    TULLE_SKIP_IF_EMULATED("the kernel cannot start a program of its own accord");
    EXPECT_TRUE(answer_with(""));
}

TEST(dynamic_link, a_section_without_the_flags_binds_lazily) {
    ElfW(Dyn) section[3] = {};
    section[0].d_tag = DT_NEEDED;
    section[1].d_tag = DT_FLAGS;
    section[1].d_un.d_val = DF_ORIGIN;
    EXPECT_FALSE(tulle::os::binds_at_start(section));
    section[1].d_un.d_val = DF_ORIGIN | DF_BIND_NOW;
    EXPECT_TRUE(tulle::os::binds_at_start(section));
    section[1].d_tag = DT_FLAGS_1;
    section[1].d_un.d_val = DF_1_NOW;
    EXPECT_TRUE(tulle::os::binds_at_start(section));
    section[1].d_tag = DT_BIND_NOW;
    EXPECT_TRUE(tulle::os::binds_at_start(section));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/child_program.hpp"

#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

std::string content(os::memory_file const& file) {
    file.rewind();
    std::string text(100, '\0');
    ssize_t const got = ::read(file.descriptor(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

TEST(child_program, reads_and_writes_what_it_is_given) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    os::memory_file const input("input"), output("output");
    input.write("hello", 5);
    input.rewind();
    char const* const cat[] = {"cat", nullptr};
    EXPECT_TRUE(os::run_program(cat, input.descriptor(), output.descriptor(), 20));
    EXPECT_EQ(content(output), "hello");
}

TEST(child_program, failures_are_told) {
    os::memory_file const none("none");
    char const* const failing[] = {"false", nullptr};
    EXPECT_FALSE(os::run_program(failing, none.descriptor(), none.descriptor(), 20));
    char const* const absent[] = {"tulle-no-such-program", nullptr};
    EXPECT_FALSE(os::run_program(absent, none.descriptor(), none.descriptor(), 20));
    char const* const slow[] = {"sleep", "1000", nullptr};
    EXPECT_FALSE(os::run_program(slow, none.descriptor(), none.descriptor(), 0));
}

TEST(child_program, nobody_else_waits_for_a_copy) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    int const child = os::copy_process();
    if (child == 0) ::_exit(3);
    ASSERT_GT(child, 0);
    EXPECT_EQ(::waitpid(-1, nullptr, 0), -1) << "it is no child as fork makes it";
    int status = 0;
    EXPECT_EQ(os::wait_for_copy(child, status, true), child);
    EXPECT_EQ(WEXITSTATUS(status), 3);
}

} // namespace

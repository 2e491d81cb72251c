// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/child_program.hpp"

#include <cstdlib>
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

TEST(child_program, is_not_searched_for_from_where_the_process_is) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    std::string folder = ::testing::TempDir() + "tulle-child-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    std::string const own = folder + "/tulle-no-such-program";
    ASSERT_EQ(::symlink("/bin/true", own.c_str()), 0);
    std::string const kept_path = ::getenv("PATH") != nullptr ? ::getenv("PATH") : "";
    char kept_folder[4096];
    ASSERT_NE(::getcwd(kept_folder, sizeof kept_folder), nullptr);
    ASSERT_EQ(::chdir(folder.c_str()), 0);
    os::memory_file const none("none");
    char const* const words[] = {"tulle-no-such-program", nullptr};
    auto const runs = [&](std::string const& path) {
        ::setenv("PATH", path.c_str(), 1);
        return os::run_program(words, none.descriptor(), none.descriptor(), 20);
    };
    EXPECT_FALSE(runs(".:"));
    EXPECT_FALSE(runs(""));
    EXPECT_TRUE(runs("/nowhere:.:" + folder));
    ::setenv("PATH", kept_path.c_str(), 1);
    ASSERT_EQ(::chdir(kept_folder), 0);
    ::unlink(own.c_str());
    ::rmdir(folder.c_str());
}

TEST(child_program, has_no_descriptor_of_ours) {
    TULLE_SKIP_IF_EMULATED("it refuses processes that send no signal when they end");
    int const open_here = ::dup(STDERR_FILENO); // programs inherit it
    ASSERT_GT(open_here, STDERR_FILENO);
    os::memory_file const input("input"), output("output");
    char const* const list[] = {"sh", "-c", "ls /proc/$$/fd", nullptr};
    EXPECT_TRUE(os::run_program(list, input.descriptor(), output.descriptor(), 20));
    EXPECT_EQ(content(output), "0\n1\n2\n");
    ::close(open_here);
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

// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

#include "base/assert.hpp"

namespace {

using namespace tulle::base;

TEST(error_death_test, fatal_prints_one_line_and_aborts) {
    EXPECT_EXIT(fatal("%d stacks of %s", 7, "wool"), ::testing::KilledBySignal(SIGABRT),
                "^tulle: 7 stacks of wool\n");
}

TEST(error_death_test, check_prints_its_message) {
    EXPECT_DEATH(TULLE_CHECK(1 > 2, "%d is not above %d", 1, 2), "tulle: 1 is not above 2");
    TULLE_CHECK(2 > 1, "never printed");
}

TEST(error_death_test, assert_is_for_debug_builds) {
    int evaluated = 0;
#ifdef NDEBUG
    TULLE_ASSERT(++evaluated < 0, "not evaluated");
    EXPECT_EQ(evaluated, 0);
#else
    EXPECT_DEATH(TULLE_ASSERT(++evaluated < 0, "evaluated"), "tulle: evaluated");
#endif
}

TEST(error, errno_value_is_thrown_with_its_context) {
    check_error(0, "nothing has failed");
    try {
        check_error(EAGAIN, "seven stacks");
        ADD_FAILURE() << "nothing was thrown";
    } catch (std::system_error const& e) {
        EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
        EXPECT_EQ(std::string_view(e.what()).find("seven stacks"), 0U);
    }
    EXPECT_THROW(throw_error(EINVAL, "always"), std::system_error);
}

TEST(error, warn_returns_and_keeps_errno) {
    ::testing::internal::CaptureStderr();
    errno = 5;
    warn("only %d left", 3);
    EXPECT_EQ(errno, 5);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "tulle: warning: only 3 left\n");
}

TEST(error, long_lines_are_cut_but_end) {
    ::testing::internal::CaptureStderr();
    warn("%s", std::string(5000, 'x').c_str());
    auto const line = ::testing::internal::GetCapturedStderr();
    EXPECT_LE(line.size(), 1024U);
    EXPECT_GT(line.size(), 1000U);
    EXPECT_EQ(line.back(), '\n');
}

} // namespace

// SPDX-License-Identifier: Apache-2.0

#include <tulle/version.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(version, names_the_version_of_the_headers) {
    std::string const expected = std::to_string(TULLE_VERSION_MAJOR) + "." +
                                 std::to_string(TULLE_VERSION_MINOR) + "." +
                                 std::to_string(TULLE_VERSION_PATCH);
    EXPECT_EQ(tulle::version(), expected);
}

} // namespace

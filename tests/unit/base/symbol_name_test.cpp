// SPDX-License-Identifier: Apache-2.0
// Names of symbols as the source has them.
#include "base/symbol_name.hpp"

#include <gtest/gtest.h>

namespace tulle::base {
namespace {

TEST(symbol_name, is_that_of_the_source) {
    EXPECT_STREQ(name_in_source("_ZN5tulle5yieldEv").get(), "tulle::yield()");
    EXPECT_STREQ(name_in_source("_Z1fi").get(), "f(int)");
}

// The demangler takes them for types.
TEST(symbol_name, of_c_is_its_own) {
    for (char const* const symbol : {"f", "n", "main", "x", "", "_Z", "_", "PKc"})
        EXPECT_EQ(name_in_source(symbol), nullptr) << symbol;
}

} // namespace
} // namespace tulle::base

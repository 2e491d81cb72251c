// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_word.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tulle::base {
namespace {

std::vector<std::string> const k_known{"info", "bench", "run", "ps", "stack-size", "stack-report"};

TEST(nearest_word, differs_by_the_fewest_letters) {
    EXPECT_EQ(nearest_word("rnu", k_known), "run");
    EXPECT_EQ(nearest_word("runn", k_known), "run");
    EXPECT_EQ(nearest_word("un", k_known), "run");
    EXPECT_EQ(nearest_word("bensh", k_known), "bench");
    EXPECT_EQ(nearest_word("stak-sise", k_known), "stack-size");
    EXPECT_EQ(nearest_word("tsack-szie", k_known), "stack-size");
    EXPECT_EQ(nearest_word("ab", {"abcd", "abd", "abc"}), "abd");
    EXPECT_EQ(nearest_word("abe", {"abc", "abd", "abe"}), "abe");
}

TEST(nearest_word, is_none_if_too_many_letters_differ) {
    for (char const* const word : {"", "r", "rum-runner", "xs", "beach-", "stack", "stac-sisse"})
        EXPECT_EQ(nearest_word(word, k_known), "") << word;
    EXPECT_EQ(nearest_word("run", {}), "");
}

TEST(nearest_word, is_asked_for) {
    EXPECT_EQ(did_you_mean("inof", k_known), "did you mean 'info'? ");
    EXPECT_EQ(did_you_mean("colour", k_known), "");
}

} // namespace
} // namespace tulle::base

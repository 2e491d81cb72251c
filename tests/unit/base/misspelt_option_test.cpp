// SPDX-License-Identifier: Apache-2.0
#include "base/misspelt_option.hpp"

#include "base/option.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

namespace tulle::base {
namespace {

std::vector<std::string> found_in(std::vector<char const*> rows) {
    rows.push_back(nullptr);
    return misspelt_options(rows.data());
}

TEST(misspelt_option, is_one_that_differs_by_a_letter_or_two) {
    for (char const* const name :
         {"TULLE_WORKER", "TULLE_WORKRES", "TULLE_WORKERSS", "TULLE_workers", "TULLE_WARKERS"}) {
        auto const found = found_in({(std::string(name) + "=2").c_str()});
        ASSERT_EQ(found.size(), 1U) << name;
        EXPECT_EQ(found[0], std::string(name) + " is no option; is TULLE_WORKERS meant?");
    }
    // Of four letters one, and two that are swapped count as one.
    EXPECT_EQ(found_in({"TULLE_SEDE=1", "TULLE_SEEDS=1", "TULLE_SEADS=1"}).size(), 2U);
}

TEST(misspelt_option, is_none_that_is_known_or_of_others) {
    EXPECT_EQ(found_in({}), std::vector<std::string>{});
    EXPECT_EQ(misspelt_options(nullptr), std::vector<std::string>{});
    EXPECT_EQ(found_in({"PATH=/bin", "WORKERS=2", "TULLE_=1", "NO_VALUE"}),
              std::vector<std::string>{});
}

// Of the program tulle, of faces for other systems, and of tests.
TEST(misspelt_option, is_no_variable_that_something_else_reads) {
    for (char const* const row :
         {"TULLE_COHERENT_CHECKS=all", "TULLE_COHERENT_GLOBALS=1", "TULLE_COHERENT_SCHEME=states",
          "TULLE_CPUS_FILE=/f", "TULLE_LAUNCHER=1", "TULLE_LOCK_THRESHOLD=1", "TULLE_LOCK_TURNS=1",
          "TULLE_ON_HOST=a", "TULLE_PARMACS_PROCESSES=2", "TULLE_PLACE=1", "TULLE_PLUGIN_FOLDER=/f",
          "TULLE_REPORT=1", "TULLE_TRANSPORT=none", "TULLE_UCONTEXT_MASKS=off", "TULLE_TEST_SEED=1",
          "TULLE_MODEL_SEED=1"})
        EXPECT_EQ(found_in({row}), std::vector<std::string>{}) << row;
}

TEST(misspelt_option, no_option_is_one) {
    for (option_row const& each : option_table().list()) {
        std::string name = "TULLE_";
        for (char const letter : each.name)
            name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        EXPECT_EQ(found_in({(name + "=1").c_str()}), std::vector<std::string>{}) << name;
    }
}

} // namespace
} // namespace tulle::base

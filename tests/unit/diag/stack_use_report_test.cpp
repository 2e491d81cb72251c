// SPDX-License-Identifier: Apache-2.0
// What is printed: tests/reports/stack_use_test.py.
#include "diag/stack_use_report.hpp"

#include "os/memory.hpp"
#include "stack/size_class.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;

TEST(stack_use_report, a_quarter_of_what_is_enough_stays_free) {
    for (std::size_t used : {std::size_t{1}, std::size_t{9'000}, std::size_t{9'500},
                             std::size_t{100'000}, std::size_t{3'000'000}}) {
        std::size_t const enough = diag::enough_for(used, 262144);
        EXPECT_EQ(stack::class_for(enough).bytes(), enough);
        EXPECT_LE(used * 4, enough * 3) << used;
        EXPECT_TRUE(enough == stack::k_smallest_bytes ||
                    used * 4 / 3 + os::page_size() > enough / 2)
            << used;
    }
}

TEST(stack_use_report, a_compact_stack_may_be_enough) {
    EXPECT_EQ(diag::enough_for(600, 1024), 1024U);
    EXPECT_EQ(diag::enough_for(900, 1024), 16384U);
    EXPECT_EQ(diag::enough_for(600, 16384), 16384U); // it was not asked for
}

} // namespace

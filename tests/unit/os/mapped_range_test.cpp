// SPDX-License-Identifier: Apache-2.0
#include "os/mapped_range.hpp"

#include "os/memory.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tulle;

TEST(mapped_range, of_what_is_mapped) {
    int local = 0;
    auto const here = reinterpret_cast<std::uintptr_t>(&local);
    auto const range = os::mapping_around(here);
    EXPECT_LE(range.low, here);
    EXPECT_GT(range.high, here);
}

TEST(mapped_range, of_what_is_not) {
    EXPECT_EQ(os::mapping_around(16).high, 0U);
    void* const memory = os::system_memory().reserve(os::page_size(), os::page_size());
    ASSERT_TRUE(os::system_memory().protect(memory, os::page_size()));
    EXPECT_EQ(os::mapping_around(reinterpret_cast<std::uintptr_t>(memory)).high, 0U) << "it cannot be read";
    EXPECT_TRUE(os::system_memory().release(memory, os::page_size()));
}

} // namespace

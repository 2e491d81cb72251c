// SPDX-License-Identifier: Apache-2.0
#include "base/few_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

namespace {

using tulle::base::copy_few_bytes;

// Both blocks have exactly that size, so an address sanitizer finds what lies outside.
TEST(few_bytes, all_are_copied_and_no_other_is_touched) {
    for (std::size_t size = 0; size <= 100; ++size) {
        auto const from = std::make_unique<std::byte[]>(size);
        for (std::size_t k = 0; k < size; ++k) from[k] = static_cast<std::byte>(k + 1);
        std::array<std::byte, 120> to{};
        copy_few_bytes(to.data() + 8, from.get(), size);
        EXPECT_TRUE(std::equal(from.get(), from.get() + size, to.data() + 8)) << size;
        auto const is_zero = [](std::byte b) { return b == std::byte{0}; };
        EXPECT_TRUE(std::all_of(to.begin(), to.begin() + 8, is_zero)) << size;
        EXPECT_TRUE(std::all_of(to.begin() + 8 + size, to.end(), is_zero)) << size;
    }
}

TEST(few_bytes, of_none_there_need_not_be_any) {
    copy_few_bytes(nullptr, nullptr, 0);
    std::byte there{7};
    copy_few_bytes(&there, nullptr, 0);
    EXPECT_EQ(there, std::byte{7});
}

} // namespace

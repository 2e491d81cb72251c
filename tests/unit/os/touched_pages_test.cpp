// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/touched_pages.hpp"

#include "os/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using tulle::os::page_size;
using tulle::os::system_memory;

std::vector<std::size_t> touched(std::byte* low, std::size_t pages) {
    struct found {
        std::byte* low;
        std::vector<std::size_t> pages;
    } f{low, {}};
    tulle::os::for_each_touched_page(
        low, pages * page_size(),
        [](std::byte* page, void* context) noexcept {
            auto& all = *static_cast<found*>(context);
            all.pages.push_back(static_cast<std::size_t>(page - all.low) / page_size());
        },
        &f);
    return f.pages;
}

TEST(touched_pages, are_those_that_were_written) {
    if (are_pages_emulated())
        GTEST_SKIP() << "the pages of /proc/self are those of the machine below";
    constexpr std::size_t k_pages = 2000;
    auto* const low =
        static_cast<std::byte*>(system_memory().reserve(k_pages * page_size(), page_size()));
    ASSERT_NE(low, nullptr);
    ASSERT_TRUE(system_memory().advise_huge(low, k_pages * page_size(), false));
    EXPECT_EQ(touched(low, k_pages), std::vector<std::size_t>{});
    for (std::size_t const k : {0U, 3U, 511U, 512U, 1999U}) low[k * page_size() + 7] = std::byte{1};
    EXPECT_EQ(touched(low, k_pages), (std::vector<std::size_t>{0, 3, 511, 512, 1999}));
    EXPECT_TRUE(system_memory().discard(low, k_pages * page_size()));
    EXPECT_EQ(touched(low, k_pages), std::vector<std::size_t>{});
    EXPECT_TRUE(system_memory().release(low, k_pages * page_size()));
}

} // namespace

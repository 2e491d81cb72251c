// SPDX-License-Identifier: Apache-2.0
#include "os/mapped_range.hpp"

#include "os/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

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
    EXPECT_EQ(os::mapping_around(reinterpret_cast<std::uintptr_t>(memory)).high, 0U)
        << "it cannot be read";
    EXPECT_TRUE(os::system_memory().release(memory, os::page_size()));
}

TEST(mapped_range, of_any_process_with_its_name) {
    auto const of = [](void const* what) { return reinterpret_cast<std::uintptr_t>(what); };
    static int const in_program = 0;
    for (int const process : {0, static_cast<int>(getpid())}) {
        auto const found = os::mapping_of(process, of(&in_program));
        EXPECT_TRUE(found.range.contains(of(&in_program)));
        EXPECT_EQ(std::string(found.name).front(), '/') << found.name;
        EXPECT_EQ(os::mapping_of(process, 16).range.high, 0U);
    }
    void* const unnamed =
        mmap(nullptr, os::page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_TRUE(os::mapping_of(0, of(unnamed)).range.contains(of(unnamed)));
    EXPECT_STREQ(os::mapping_of(0, of(unnamed)).name, "");
    munmap(unnamed, os::page_size());
    EXPECT_EQ(os::mapping_of(0x7FFFFFFF, of(&in_program)).range.high, 0U) << "no such process";
}

TEST(mapped_range, private_ones_in_order) {
    int local = 0;
    auto const all = os::private_mappings();
    auto const has = [&all](void const* what) {
        return std::any_of(all.begin(), all.end(), [what](auto const& r) {
            return r.contains(reinterpret_cast<std::uintptr_t>(what));
        });
    };
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                               [](auto const& a, auto const& b) { return a.low < b.low; }));
    auto const far = std::make_unique<int>();
    EXPECT_TRUE(has(&local) && has(far.get()));
    EXPECT_FALSE(has(nullptr));
    void* const shared =
        mmap(nullptr, os::page_size(), PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto const with_shared = os::private_mappings();
    EXPECT_FALSE(std::any_of(with_shared.begin(), with_shared.end(), [shared](auto const& r) {
        return r.contains(reinterpret_cast<std::uintptr_t>(shared));
    }));
    munmap(shared, os::page_size());
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/memory.hpp"

#include <cerrno>
#include <cstdint>
#include <vector>

#include <sys/mman.h>

#include <gtest/gtest.h>

#include "memory_probe.hpp"

namespace {

using namespace tulle::os;

memory_calls const& k_memory = system_memory();

TEST(memory, reserves_aligned_zeroed_lazily) {
    TULLE_SKIP_IF_EMULATED("its own memory is counted, too");
    for (std::size_t const alignment :
         {page_size(), std::size_t{2} << 20U, std::size_t{1} << 30U}) {
        constexpr std::size_t k_bytes = std::size_t{8} << 30U;
        auto const before = status_bytes("VmSize");
        auto* const low = static_cast<char*>(k_memory.reserve(k_bytes, alignment));
        ASSERT_NE(low, nullptr) << errno;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(low) % alignment, 0U);
        EXPECT_EQ(low[k_bytes - 1], 0);
        low[k_bytes - 1] = 1;
        EXPECT_LE(status_bytes("VmSize") - before, k_bytes + (1U << 20U))
            << "the slack of the alignment is given back";
        EXPECT_TRUE(k_memory.release(low, k_bytes));
    }
}

TEST(memory, refuses_with_a_reason) {
    errno = 0;
    EXPECT_EQ(k_memory.reserve(0, page_size()), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(k_memory.reserve(SIZE_MAX / 2, page_size()), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(k_memory.reserve(SIZE_MAX - 4096, std::size_t{2} << 20U), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST(memory, discard_zeroes) {
    auto* const low = static_cast<char*>(k_memory.reserve(page_size(), page_size()));
    low[0] = 1;
    EXPECT_TRUE(k_memory.discard(low, page_size()));
    EXPECT_EQ(low[0], 0);
    k_memory.release(low, page_size());
}

TEST(memory, populate_makes_pages_resident_in_strides) {
    TULLE_SKIP_IF_EMULATED("it ignores advice about memory");
    std::size_t const page = page_size();
    constexpr std::size_t k_count = 1000; // more than one system call takes
    auto* const low = static_cast<std::byte*>(k_memory.reserve(4 * page * k_count, page));
    k_memory.advise_huge(low, 4 * page * k_count, false);
    ASSERT_TRUE(k_memory.populate({low + page, 4 * page, page, k_count})) << errno;
    std::vector<unsigned char> resident(4 * k_count);
    ASSERT_EQ(::mincore(low, 4 * page * k_count, resident.data()), 0);
    for (std::size_t k = 0; k < resident.size(); ++k)
        ASSERT_EQ(resident[k] & 1U, k % 4 == 1 ? 1U : 0U) << k;
    k_memory.release(low, 4 * page * k_count);
}

void touch(std::byte volatile* where) { *where = std::byte{1}; }

TEST(memory_death_test, guards_fault_and_outlive_a_discard) {
    if (!can_install_guards(k_memory)) {
        GTEST_SKIP() << "no guard regions before Linux 6.13";
    }
    std::size_t const page = page_size();
    constexpr std::size_t k_count = 600;
    auto* const low = static_cast<std::byte*>(k_memory.reserve(4 * page * k_count, page));
    ASSERT_TRUE(k_memory.install_guards({low, 4 * page, page, k_count}));
    ASSERT_TRUE(k_memory.discard(low, 4 * page * k_count));
    for (std::size_t i : {0U, 127U, 128U, 599U}) {
        touch(low + i * 4 * page + page);
        EXPECT_EXIT(
            touch(low + i * 4 * page), [](int status) { return status != 0; }, "")
            << i;
    }
    k_memory.release(low, 4 * page * k_count);
}

TEST(memory, guards_that_do_nothing_are_none) {
    memory_calls calls = k_memory;
    // As an emulator does, which lets all advice pass.
    calls.install_guards = [](strided_range const&) noexcept { return true; };
    EXPECT_FALSE(can_install_guards(calls));
}

TEST(memory_death_test, protected_pages_fault) {
    auto* const low = static_cast<std::byte*>(k_memory.reserve(2 * page_size(), page_size()));
    ASSERT_TRUE(k_memory.protect(low, page_size()));
    touch(low + page_size());
    EXPECT_EXIT(
        touch(low), [](int status) { return status != 0; }, "");
    k_memory.release(low, 2 * page_size());
}

TEST(memory, knows_the_mapping_limit) { EXPECT_GT(mapping_limit(), 1000U); }

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "os/careful_read.hpp"
#include "os/memory.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace {

using tulle::os::careful_read;

TEST(careful_read, reads_what_is_there) {
    TULLE_SKIP_IF_EMULATED("the emulator has no process_vm_readv");
    std::uint64_t const word = 0x123456789ABCDEF0U;
    EXPECT_EQ(careful_read(&word), word);
}

TEST(careful_read, memory_that_is_gone_is_no_fault) {
    std::size_t const bytes = tulle::os::page_size();
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ::munmap(memory, bytes);
    EXPECT_EQ(careful_read(memory), std::nullopt);
    EXPECT_EQ(careful_read(nullptr), std::nullopt);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tulle::os {
namespace {

constexpr std::size_t k_bytes = 10'000; // no whole number of pages

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }
bool is_inherited(int descriptor) { return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0; }

// Whatever is leaked makes it larger.
int next_descriptor() {
    int const next = dup(STDERR_FILENO);
    close(next);
    return next;
}

TEST(shared_memory, is_zero_and_as_large_as_asked_for) {
    shared_memory const m = shared_memory::create("tulle-test", k_bytes);
    ASSERT_TRUE(m.is_valid());
    EXPECT_EQ(m.size(), k_bytes);
    for (std::size_t k = 0; k < k_bytes; ++k) ASSERT_EQ(m.low()[k], std::byte{0}) << k;
    m.low()[k_bytes - 1] = std::byte{1};
}

TEST(shared_memory, without_any_is_not_valid) {
    shared_memory const none;
    EXPECT_FALSE(none.is_valid());
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.descriptor(), -1);
    EXPECT_FALSE(none.keep_for_programs());
}

TEST(shared_memory, of_an_impossible_size_is_refused) {
    int const next = next_descriptor();
    for (std::size_t const bytes : {std::size_t{0}, SIZE_MAX}) {
        errno = 0;
        EXPECT_FALSE(shared_memory::create("tulle-test", bytes).is_valid()) << bytes;
        EXPECT_NE(errno, 0) << bytes;
    }
    EXPECT_EQ(next_descriptor(), next);
}

// The system would end the process by SIGXFSZ.
TEST(shared_memory, that_is_larger_than_a_file_may_be_is_refused) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    shared_file const file = shared_file::create("tulle-test");
    EXPECT_TRUE(file.grow(2 * k_bytes));
    rlimit const few{k_bytes, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
    EXPECT_TRUE(shared_memory::create("tulle-test", k_bytes).is_valid());
    errno = 0;
    EXPECT_FALSE(shared_memory::create("tulle-test", k_bytes + 1).is_valid());
    EXPECT_EQ(errno, EFBIG);
    EXPECT_TRUE(file.grow(2 * k_bytes)); // as it is
    EXPECT_FALSE(file.grow(3 * k_bytes));
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST(shared_memory, programs_inherit_it_when_told) {
    shared_memory const m = shared_memory::create("tulle-test", k_bytes);
    EXPECT_FALSE(is_inherited(m.descriptor()));
    EXPECT_TRUE(m.keep_for_programs());
    EXPECT_TRUE(is_inherited(m.descriptor()));
    shared_memory const adopted = shared_memory::adopt(dup(m.descriptor()));
    EXPECT_FALSE(is_inherited(adopted.descriptor()));
}

TEST(shared_memory, is_the_same_in_each_mapping) {
    shared_memory first = shared_memory::create("tulle-test", k_bytes);
    shared_memory const second = shared_memory::adopt(dup(first.descriptor()));
    ASSERT_TRUE(second.is_valid());
    EXPECT_NE(first.low(), second.low());
    EXPECT_EQ(second.size(), k_bytes);
    first.low()[7] = std::byte{42};
    EXPECT_EQ(second.low()[7], std::byte{42});
    second.low()[k_bytes - 1] = std::byte{43};
    EXPECT_EQ(first.low()[k_bytes - 1], std::byte{43});
    first = shared_memory();
    EXPECT_EQ(second.low()[7], std::byte{42});
}

TEST(shared_memory, grows_for_all_who_grow_it) {
    shared_memory first = shared_memory::create("tulle-test", k_bytes);
    shared_memory second = shared_memory::adopt(dup(first.descriptor()));
    first.low()[1] = std::byte{7};
    ASSERT_TRUE(first.grow(10 * k_bytes));
    EXPECT_EQ(first.size(), 10 * k_bytes);
    first.low()[10 * k_bytes - 1] = std::byte{9};
    ASSERT_TRUE(second.grow(10 * k_bytes));
    EXPECT_EQ(second.low()[1], std::byte{7});
    EXPECT_EQ(second.low()[10 * k_bytes - 1], std::byte{9});
    EXPECT_TRUE(second.grow(1)); // it is larger already
    EXPECT_EQ(second.size(), 10 * k_bytes);
}

TEST(shared_memory, that_cannot_grow_is_not_valid) {
    shared_memory m = shared_memory::create("tulle-test", k_bytes);
    EXPECT_FALSE(m.grow(SIZE_MAX / 4));
    EXPECT_FALSE(m.is_valid());
}

TEST(shared_memory, moves) {
    shared_memory a = shared_memory::create("tulle-test", k_bytes);
    std::byte* const low = a.low();
    int const descriptor = a.descriptor();
    shared_memory b = std::move(a);
    EXPECT_FALSE(a.is_valid()); // NOLINT(bugprone-use-after-move): it is empty
    EXPECT_EQ(a.size(), 0U);
    EXPECT_EQ(a.descriptor(), -1);
    EXPECT_EQ(b.low(), low);
    EXPECT_EQ(b.size(), k_bytes);
    EXPECT_EQ(b.descriptor(), descriptor);

    shared_memory c = shared_memory::create("tulle-test", 1);
    int const old = c.descriptor();
    c = std::move(b);
    EXPECT_FALSE(is_open(old));
    EXPECT_FALSE(b.is_valid()); // NOLINT(bugprone-use-after-move): it is empty
    EXPECT_EQ(c.low(), low);
    shared_memory& same = c;
    c = std::move(same);
    EXPECT_EQ(c.low(), low);
    EXPECT_TRUE(is_open(descriptor));
}

TEST(shared_memory, is_unmapped_and_closed_in_the_end) {
    int descriptor = -1;
    std::byte* low = nullptr;
    {
        shared_memory const m = shared_memory::create("tulle-test", k_bytes);
        descriptor = m.descriptor();
        low = m.low();
    }
    EXPECT_FALSE(is_open(descriptor));
    EXPECT_EQ(msync(low, 1, MS_ASYNC), -1) << "it is mapped still";
    EXPECT_EQ(errno, ENOMEM);
}

void expect_refused(int descriptor, int reason) {
    errno = 0;
    EXPECT_FALSE(shared_memory::adopt(descriptor).is_valid());
    EXPECT_EQ(errno, reason);
    EXPECT_FALSE(is_open(descriptor));
}

TEST(shared_memory, adopts_no_descriptor_that_is_not_open) {
    expect_refused(-1, EBADF);
    expect_refused(next_descriptor(), EBADF);
}

TEST(shared_memory, adopts_no_pipe) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    expect_refused(ends[0], EINVAL);
    close(ends[1]);
}

TEST(shared_memory, adopts_nothing_empty) {
    expect_refused(memfd_create("tulle-test", MFD_CLOEXEC), EINVAL);
}

TEST(shared_memory, adopts_nothing_that_it_may_not_write) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(ftruncate(fileno(file), 100), 0);
    int const read_only =
        open(("/proc/self/fd/" + std::to_string(fileno(file))).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(read_only, 0);
    expect_refused(read_only, EACCES);
    std::fclose(file);
}

TEST(shared_file, knows_what_of_it_has_memory) {
    constexpr std::uint64_t k_whole = std::uint64_t{8} << 20U;
    constexpr std::uint64_t k_part = std::uint64_t{2} << 20U; // no system has larger pages here
    auto const file = shared_file::create("tulle-test");
    ASSERT_TRUE(file.is_open() && file.grow(k_whole));
    EXPECT_EQ(file.find_memory(0, k_whole).begin, k_whole);
    char const byte = 1;
    ASSERT_EQ(pwrite(file.number(), &byte, 1, static_cast<off_t>(k_part + 5)), 1);
    auto const found = file.find_memory(0, k_whole);
    EXPECT_TRUE(found.begin <= k_part + 5 && found.begin >= k_part) << found.begin;
    EXPECT_TRUE(found.end > k_part + 5 && found.end <= 2 * k_part) << found.end;
    EXPECT_EQ(file.find_memory(found.end, k_whole).begin, k_whole);
    EXPECT_EQ(file.find_memory(0, k_part).begin, k_part); // what comes later is not looked for
    auto const cut = file.find_memory(k_part, k_part + 6);
    EXPECT_EQ(cut.end, k_part + 6);
}

} // namespace
} // namespace tulle::os

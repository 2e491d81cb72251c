// SPDX-License-Identifier: Apache-2.0
#include "os/fixed_range.hpp"

#include "base/assert.hpp"
#include "base/sanitize.hpp"

#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {

namespace {

// Programs, heaps and stacks lie at the ends of an address space of 47 bits; with 39 bits (some of
// AArch64, RISC-V) as well.
#if UINTPTR_MAX == UINT32_MAX
constexpr std::uintptr_t k_usual = 0x6000'0000;
#elif defined(__x86_64__) || defined(__powerpc64__) || defined(__sparc_v9__) || defined(__s390x__)
constexpr std::uintptr_t k_usual =
    // It leaves what is below 512 GiB to programs.
    base::k_thread_sanitizer ? 0x10'0000'0000 : 0x2000'0000'0000;
#else
constexpr std::uintptr_t k_usual = 0x10'0000'0000;
#endif

} // namespace

std::uintptr_t fixed_range::usual_address() noexcept { return k_usual; }
std::uintptr_t fixed_range::low_address() noexcept { return 0x2000'0000; }

fixed_range::fixed_range(fixed_range&& other) noexcept
    : m_low(std::exchange(other.m_low, nullptr)), m_size(std::exchange(other.m_size, 0)) {}

fixed_range& fixed_range::operator=(fixed_range&& other) noexcept {
    if (this == &other) return *this;
    release();
    m_low = std::exchange(other.m_low, nullptr);
    m_size = std::exchange(other.m_size, 0);
    return *this;
}

fixed_range::~fixed_range() { release(); }

fixed_range fixed_range::reserve(std::uintptr_t address, std::size_t bytes) noexcept {
    fixed_range made;
    int const flags =
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
    void* const wanted = reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr)
    void* const low = mmap(wanted, bytes, PROT_NONE, flags, -1, 0);
    if (low == MAP_FAILED) return made;
    made.m_low = static_cast<std::byte*>(low);
    made.m_size = bytes;
    if (address == 0 || low == wanted) return made;
    made.release(); // a kernel that does not know MAP_FIXED_NOREPLACE takes the address for a hint
    errno = EEXIST;
    return made;
}

bool fixed_range::fill(std::size_t offset, std::size_t bytes) noexcept {
    return map(offset, bytes, {MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0});
}

bool fixed_range::fill_from(int descriptor, std::size_t offset, std::size_t bytes,
                            std::size_t file_offset) noexcept {
    return map(offset, bytes, {MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, file_offset});
}

bool fixed_range::map(std::size_t offset, std::size_t bytes, source from) noexcept {
    TULLE_ASSERT(offset <= m_size && bytes <= m_size - offset,
                 "%zu bytes at %zu are not in a range of %zu", bytes, offset, m_size);
    return mmap(m_low + offset, bytes, PROT_READ | PROT_WRITE, from.flags, from.descriptor,
                static_cast<off_t>(from.offset)) != MAP_FAILED;
}

void fixed_range::release() noexcept {
    int const kept = errno;
    if (m_low != nullptr) munmap(m_low, m_size);
    m_low = nullptr;
    m_size = 0;
    errno = kept;
}

// A second mapping of the same pages: the size of what is moved is 0. Of the kernel itself: the
// mremap that UCX puts in place of the C library's loses the address.
bool map_again(std::byte* from, std::byte* at, std::size_t bytes) noexcept {
    auto const made =
        ::syscall(SYS_mremap, from, std::size_t{0}, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
    return made != -1;
}

bool allow_stores(std::byte* at, std::size_t bytes, bool allowed) noexcept {
    return ::mprotect(at, bytes, allowed ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

} // namespace tulle::os

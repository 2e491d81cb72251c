// SPDX-License-Identifier: Apache-2.0
#include "os/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include <tulle/detail/attributes.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/spin_lock.hpp"

namespace tulle::os {
namespace {

// Values of the kernel's interface that the C library's headers may be too old to name.
constexpr int k_madv_populate_write = 23;
constexpr int k_madv_guard_install = 102;
constexpr int k_pidfd_self_thread_group = -10001; // Linux 6.14
constexpr long k_sys_process_madvise = 440;

void* map(std::size_t bytes) noexcept {
    void* const low = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return low == MAP_FAILED ? nullptr : low;
}

// Mappings that the kernel has refused to take back, since it had no memory to split a larger one.
// They wait here for the next release.
struct refused_mappings {
    struct mapping {
        void* low;
        std::size_t bytes;
    };
    base::spin_lock lock; // guards the rest
    std::size_t count = 0;
    std::array<mapping, 64> kept{};
};

constinit refused_mappings g_refused;

// The address space of mappings that find no room here stays taken; their pages are given back.
void keep_refused(void* low, std::size_t bytes) noexcept {
    ::madvise(low, bytes, MADV_DONTNEED);
    std::lock_guard const held(g_refused.lock);
    if (g_refused.count < g_refused.kept.size()) g_refused.kept[g_refused.count++] = {low, bytes};
}

void retry_refused() noexcept {
    std::lock_guard const held(g_refused.lock);
    auto& [lock, count, kept] = g_refused;
    while (count > 0 && ::munmap(kept[count - 1].low, kept[count - 1].bytes) == 0) --count;
}

bool release(void* low, std::size_t bytes) noexcept {
    int const kept = errno;
    if (::munmap(low, bytes) == 0) {
        retry_refused();
        return true;
    }
    if (errno != ENOMEM) return false;
    keep_refused(low, bytes);
    errno = kept;
    return true;
}

// Unmaps what lies outside of [aligned, aligned + bytes) in a mapping that was made larger for the
// alignment.
void cut(std::byte* low, std::size_t mapped, std::byte* aligned, std::size_t bytes) noexcept {
    auto const before = static_cast<std::size_t>(aligned - low);
    if (before > 0) {
        release(low, before);
    }
    if (mapped - before > bytes) {
        release(aligned + bytes, mapped - before - bytes);
    }
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t const slack = alignment > page_size() ? alignment - page_size() : 0;
    if (bytes == 0 || bytes > SIZE_MAX - slack) {
        errno = bytes == 0 ? EINVAL : ENOMEM;
        return nullptr;
    }
    auto* const low = static_cast<std::byte*>(map(bytes + slack));
    if (low == nullptr || slack == 0) {
        return low;
    }
    auto const address = reinterpret_cast<std::uintptr_t>(low);
    auto* const aligned = low + (((address + alignment - 1) & ~(alignment - 1)) - address);
    cut(low, bytes + slack, aligned, bytes);
    return aligned;
}

bool discard(void* low, std::size_t bytes) noexcept {
    return ::madvise(low, bytes, MADV_DONTNEED) == 0;
}

bool advise_huge(void* low, std::size_t bytes, bool wanted) noexcept {
    return ::madvise(low, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
}

bool protect(void* low, std::size_t bytes) noexcept {
    return ::mprotect(low, bytes, PROT_NONE) == 0;
}

// One system call for up to 128 ranges, whose list takes 2 KiB of the caller's stack, which may be
// a small one; how many of them are done for sure. The process names itself by a constant, not by
// a descriptor: after a fork a descriptor would name the parent.
TULLE_NOINLINE std::size_t advise_batch(strided_range const& ranges, std::size_t from,
                                        int advice) noexcept {
    static std::atomic<bool> s_missing{
        false}; // relaxed, below: a thread that does not know yet finds out
    if (s_missing.load(std::memory_order_relaxed)) return 0;
    constexpr std::size_t k_batch = 128;
    std::array<iovec, k_batch> vector; // NOLINT: only the first `count` are used
    std::size_t const count = std::min(k_batch, ranges.count - from);
    for (std::size_t i = 0; i < count; ++i) {
        vector[i] = {ranges.first + (from + i) * ranges.stride, ranges.bytes};
    }
    long const advised = ::syscall(k_sys_process_madvise, k_pidfd_self_thread_group, vector.data(),
                                   count, advice, 0U);
    // An old kernel, or Valgrind.
    if (advised < 0 && errno == ENOSYS) s_missing.store(true, std::memory_order_relaxed);
    return advised <= 0 ? 0 : static_cast<std::size_t>(advised) / ranges.bytes;
}

// Does what advise_batch does with one system call for each range, for kernels and filters that
// refuse the batch.
bool advise_one_by_one(strided_range const& ranges, std::size_t from, int advice) noexcept {
    for (std::size_t i = from; i < ranges.count; ++i) {
        if (::madvise(ranges.first + i * ranges.stride, ranges.bytes, advice) != 0) {
            return false;
        }
    }
    return true;
}

bool advise_ranges(strided_range const& ranges, int advice) noexcept {
    if (ranges.count == 1) return advise_one_by_one(ranges, 0, advice);
    std::size_t done = 0;
    while (done < ranges.count) {
        std::size_t const batch = advise_batch(ranges, done, advice);
        if (batch == 0) {
            return advise_one_by_one(ranges, done, advice);
        }
        done += batch;
    }
    return true;
}

// Whether the kernel, too, may not write there. An emulator takes advice that it does not know for
// good, and does nothing.
bool is_out_of_bounds(void* page) noexcept {
    return ::sigpending(static_cast<sigset_t*>(page)) != 0;
}

bool install_guards(strided_range const& ranges) noexcept {
    return advise_ranges(ranges, k_madv_guard_install);
}

bool populate(strided_range const& ranges) noexcept {
    return advise_ranges(ranges, k_madv_populate_write);
}

} // namespace

memory_calls const& system_memory() noexcept {
    static constexpr memory_calls k_calls{&reserve,        &release, &discard, &advise_huge,
                                          &install_guards, &protect, &populate};
    return k_calls;
}

void leave_out_of_dumps(void* low, std::size_t bytes, bool left_out) noexcept {
    static_cast<void>(::madvise(low, bytes, left_out ? MADV_DONTDUMP : MADV_DODUMP));
}

void lock_refused_memory() noexcept { g_refused.lock.lock(); }
void unlock_refused_memory() noexcept { g_refused.lock.unlock(); }

std::size_t page_size() noexcept {
    static std::size_t const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

std::uint64_t physical_memory() noexcept {
    long const pages = ::sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? static_cast<std::uint64_t>(pages) * page_size() : 0;
}

std::size_t mapping_limit() noexcept {
    std::size_t limit = 65530;
    if (std::FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
        if (std::fscanf(file, "%zu", &limit) != 1) {
            limit = 65530;
        }
        std::fclose(file);
    }
    return limit;
}

bool can_install_guards(memory_calls const& calls) noexcept {
    int const kept = errno;
    std::size_t const bytes = page_size();
    void* const scratch = calls.reserve(bytes, bytes);
    bool possible = false;
    if (scratch != nullptr) {
        possible = calls.install_guards({static_cast<std::byte*>(scratch), bytes, bytes, 1}) &&
                   is_out_of_bounds(scratch);
        calls.release(scratch, bytes);
    }
    errno = kept;
    return possible;
}

} // namespace tulle::os

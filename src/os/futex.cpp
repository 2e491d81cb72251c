// SPDX-License-Identifier: Apache-2.0
#include "os/futex.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace tulle::os {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

timespec to_timespec(std::uint64_t nanoseconds) noexcept {
    constexpr std::uint64_t k_second = 1'000'000'000U;
    constexpr auto k_latest = static_cast<std::uint64_t>(std::numeric_limits<time_t>::max());
    timespec result{};
    result.tv_sec = static_cast<time_t>(std::min(nanoseconds / k_second, k_latest));
    result.tv_nsec = static_cast<long>(nanoseconds % k_second);
    return result;
}

wait_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                 std::uint64_t deadline_ns, int flags) noexcept {
    int const kept = errno;
    timespec const deadline = to_timespec(deadline_ns);
    // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time; FUTEX_WAIT would take a relative
    // one.
    long const result = ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | flags, expected,
                                  deadline_ns == k_no_deadline ? nullptr : &deadline, nullptr,
                                  FUTEX_BITSET_MATCH_ANY);
    int const reason = result == 0 ? 0 : errno;
    errno = kept;
    switch (reason) {
        case 0: return wait_result::woken;
        case EINTR: return wait_result::interrupted;
        case EAGAIN: return wait_result::value_changed;
        case ETIMEDOUT: return wait_result::timed_out;
        default:
            base::fatal(
                "futex wait on %p failed with errno %d; the word must be mapped and 4-byte aligned",
                static_cast<void*>(&word), reason);
    }
}

int wake(std::atomic<std::uint32_t>& word, int count, int flags) noexcept {
    int const kept = errno;
    long const woken = ::syscall(SYS_futex, &word, FUTEX_WAKE | flags, count, nullptr, nullptr, 0);
    errno = kept;
    // A word already unmapped by its owner has no sleepers.
    return static_cast<int>(std::max(woken, 0L));
}

} // namespace

wait_result futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t deadline_ns) noexcept {
    return wait(word, expected, deadline_ns, FUTEX_PRIVATE_FLAG);
}

int futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
    return wake(word, count, FUTEX_PRIVATE_FLAG);
}

wait_result shared_futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              std::uint64_t deadline_ns) noexcept {
    return wait(word, expected, deadline_ns, 0);
}

int shared_futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
    return wake(word, count, 0);
}

} // namespace tulle::os

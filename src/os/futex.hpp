// SPDX-License-Identifier: Apache-2.0
// futex(2) on a 32-bit word, private to the process or shared with others. Any OS thread may call
// any operation.
// Memory ordering: none is promised by the calls; the word itself carries it (release the word,
// then wake; acquire it after the wait).
#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock.hpp"

#include <tulle/detail/visibility.h>

namespace tulle::os {

enum class wait_result {
    woken,        // a futex_wake on the word, or a spurious return: read the word again
    interrupted,  // a signal handler ran: a spurious return, as any caller must expect
    timed_out,    // the deadline passed
    value_changed // the word did not hold `expected`; nothing was waited for
};

// Sleeps while the word holds `expected`, until a wake or `deadline_ns` on the clock of
// monotonic_ns().
[[nodiscard]] wait_result futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                     std::uint64_t deadline_ns = k_no_deadline) noexcept;

// Wakes up to `count` sleepers on the word and says how many it woke.
int futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept;

// Like futex_wait and futex_wake, on a word in memory that processes share; it may be mapped at
// another address in each.
[[nodiscard]] TULLE_API wait_result
shared_futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::uint64_t deadline_ns = k_no_deadline) noexcept;
TULLE_API int shared_futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept;

} // namespace tulle::os

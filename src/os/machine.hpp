// SPDX-License-Identifier: Apache-2.0
//
// base::machine completed by what only the operating system can give: the asymmetric fence, the futex, the processor's
// release. Lock-free code that uses any of it takes os::machine as its policy, and model::machine in model tests.
#pragma once

#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/membarrier.hpp"

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace tulle::os {

struct machine : base::machine {
    /// A full fence on every thread of the process; pairs with compiler_barrier() on the cheap side.
    /// Only after membarrier_register() returned true.
    static void heavy_fence() noexcept { membarrier_heavy(); }

    /// Sleeps while the word holds `expected`. False: the deadline on the clock of monotonic_ns() has passed.
    /// True says nothing: woken, not asleep at all, or for no reason; look at the word again.
    static bool futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::uint64_t deadline_ns = k_no_deadline) noexcept {
        return os::futex_wait(word, expected, deadline_ns) != wait_result::timed_out;
    }
    /// Wakes at most `count` threads that sleep on the word.
    static void futex_wake(atomic<std::uint32_t>& word, int count) noexcept { os::futex_wake(word, count); }

    /// For a spin loop whose partner may have been preempted.
    static void yield_processor() noexcept { sched_yield(); }
};

} // namespace tulle::os

// SPDX-License-Identifier: Apache-2.0
// base::machine completed by what only the operating system can give: the asymmetric fence, the
// futex, the processor's release. Lock-free code that uses any of it takes os::machine as its
// policy, and model::machine in model tests.
#pragma once

#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/membarrier.hpp"

#include <tulle/detail/machine.hpp>

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace tulle::os {

struct machine : base::machine {
    // The public headers know only the part that their inline code needs.
    using front_machine = detail::native_machine;

    // A full fence on every thread of the process, where the kernel offers it
    // (membarrier_register() has returned true); else one on the caller. Pairs with
    // compiler_barrier() on the cheap side, or a fence there in the second case.
    static void heavy_fence() noexcept {
        membarrier_available() ? membarrier_heavy() : fence_seq_cst();
    }

    // Sleeps while the word holds `expected`, at most until the deadline (ns, monotonic). False:
    // the deadline has passed.
    static bool futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::uint64_t deadline = k_no_deadline) noexcept {
        return os::futex_wait(word, expected, deadline) != wait_result::timed_out;
    }
    // Wakes at most `count` threads that sleep on the word.
    static void futex_wake(atomic<std::uint32_t>& word, int count) noexcept {
        os::futex_wake(word, count);
    }

    // Called in a spin loop whose partner may have been preempted.
    static void yield_processor() noexcept { sched_yield(); }
};

} // namespace tulle::os

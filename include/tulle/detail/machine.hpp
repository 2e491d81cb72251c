// SPDX-License-Identifier: Apache-2.0
// The machine that lock-free code runs on, as one policy: atomics, barriers, pauses. Protocols are templates over it, so that the model
// tests can put a simulated machine with stale reads in its place.
#pragma once

#include <tulle/detail/cpu_pause.hpp>

#include <atomic>

#include <sched.h>

namespace tulle::detail {

struct native_machine {
    template <class T> using atomic = std::atomic<T>;

    // Keeps the compiler from reordering; the processor may. The heavy side of each such pair is os::membarrier_heavy().
    static void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void fence_seq_cst() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

    static void pause() noexcept { cpu_pause(); }
    static void yield_processor() noexcept { sched_yield(); }
};

} // namespace tulle::detail

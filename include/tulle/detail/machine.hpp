// SPDX-License-Identifier: Apache-2.0
// The machine that lock-free code runs on, as one policy: atomics, barriers, pauses. Protocols are templates over it, so that the model
// tests can put a simulated machine with stale reads in its place.
#pragma once

#include <atomic>

#include <sched.h>

namespace tulle::detail {

struct native_machine {
    template <class T> using atomic = std::atomic<T>;

    // Keeps the compiler from reordering; the processor may. The heavy side of each such pair is os::membarrier_heavy().
    static void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void fence_seq_cst() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

    // One step of a spin loop. Spinning without it delays the store that is waited for.
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ __volatile__("yield");
#else
        compiler_barrier();
#endif
    }
    static void yield_processor() noexcept { sched_yield(); }
};

} // namespace tulle::detail

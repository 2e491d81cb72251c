// SPDX-License-Identifier: Apache-2.0
// The size of a cache line and the two hints that lock-free code needs beside the C++ memory model.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/cpu_pause.hpp"

namespace tulle::base {

// Bytes that travel together between cores. A constant of the library, not of the machine: it is
// part of layouts.
inline constexpr std::size_t k_cache_line = 64;

// The compiler moves no memory access across this point; the processor may.
inline void compiler_barrier() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    asm volatile("" ::: "memory");
}

} // namespace tulle::base

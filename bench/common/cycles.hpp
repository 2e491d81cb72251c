// SPDX-License-Identifier: Apache-2.0
// The CPU's time stamp counter where the compiler gives access to it, else the monotonic clock in
// nanoseconds. Constant rate on every machine of the last fifteen years; not the core's clock,
// which varies.
#pragma once

#include "harness.hpp"

#include <cstdint>

#if __has_builtin(__builtin_ia32_rdtsc)
#define TULLE_BENCH_COUNTER() __builtin_ia32_rdtsc()
#elif __has_builtin(__builtin_readcyclecounter)
#define TULLE_BENCH_COUNTER() __builtin_readcyclecounter()
#else
#define TULLE_BENCH_COUNTER() static_cast<std::uint64_t>(1e9 * seconds())
#endif

namespace tulle::bench {

inline std::uint64_t cycles() { return TULLE_BENCH_COUNTER(); }

#undef TULLE_BENCH_COUNTER

// Compares the counter with the monotonic clock over 20 ms.
inline double nanoseconds_per_cycle() {
    double const start = seconds();
    std::uint64_t const first = cycles();
    while (seconds() - start < 0.02) touch();
    auto const counted = static_cast<double>(cycles() - first);
    return 1e9 * (seconds() - start) / counted;
}

} // namespace tulle::bench

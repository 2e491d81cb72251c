// SPDX-License-Identifier: Apache-2.0
//
// Many small forks, for tests that want some, with a result to compare.
#pragma once

#include <tulle/tulle.hpp>

inline long fib(long n) {
    if (n < 2) return n;
    auto older = tulle::fork([n] { return fib(n - 1); });
    long const younger = fib(n - 2);
    return older.join() + younger;
}

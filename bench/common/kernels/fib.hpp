// SPDX-License-Identifier: Apache-2.0
//
// Naive Fibonacci: one spawn and one join per call and hardly any work between them.
//
// Every kernel in this folder is a template over a fork-join policy:
//
//     struct policy { template <class F, class G> static auto invoke(F&& f, G&& g); };
//
// invoke runs f and g, possibly in parallel, and returns when both have: std::pair{f(), g()} when
// they return values, nothing when they return void. f is the one that may be stolen. A kernel may
// be called wherever the policy may.
#pragma once

namespace kernels {

// MayThrow: as a compiler sees it. Each spawn then needs a landing pad for the child that an
// exception would leave behind.
template <class ForkJoin, bool MayThrow = false> long fib(long n) noexcept(!MayThrow) {
    if (n < 2) return n;
    auto const [a, b] =
        ForkJoin::invoke([n]() noexcept(!MayThrow) { return fib<ForkJoin, MayThrow>(n - 1); },
                         [n]() noexcept(!MayThrow) { return fib<ForkJoin, MayThrow>(n - 2); });
    return a + b;
}

// What a compiler makes of it: gcc inlines several levels of the recursion, so that a number costs
// less than a call.
inline long fib_inlined(long n) noexcept {
    return n < 2 ? n : fib_inlined(n - 1) + fib_inlined(n - 2);
}

// Not inlined, so that the base of comparison makes one call where the threaded one makes one
// thread.
[[gnu::noinline]] inline long fib_serial(long n) noexcept {
    return n < 2 ? n : fib_serial(n - 1) + fib_serial(n - 2);
}

// The same number by addition, for the check. n <= 90: fits a long of 64 bits.
inline long fib_expected(int n) {
    long a = 0;
    long b = 1;
    for (int i = 0; i < n; ++i) {
        long const next = a + b;
        a = b;
        b = next;
    }
    return a;
}

// Calls that fork: the number of spawns that one fib(n) makes.
inline long fib_spawns(int n) { return n < 2 ? 0 : fib_expected(n + 1) - 1; }

} // namespace kernels

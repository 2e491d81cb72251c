// SPDX-License-Identifier: Apache-2.0
// The library itself, built over each switch: a thread for each call of Fibonacci, which runs at
// once, while its creator may be stolen, as MassiveThreads has it. Figures: s, and ns of a thread.
//   paper-fib     Fibonacci(30)
//   paper-scale   a larger one, which has more work for each worker
// Source: Dun, Nakashima, Taura, "Porting MassiveThreads Thread Library to FX10" (2012), figures 6
// to 9.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/fib.hpp"
#include "../common/libraries/tulle.hpp"

#include <algorithm>

namespace tulle::bench {

inline long fib_by_threads(int n) {
    if (n < 2) return n;
    auto child = tulle::spawn({.child_first = true}, [n] { return fib_by_threads(n - 1); });
    long const mine = fib_by_threads(n - 2);
    return mine + child.join();
}

inline int paper_fib_main(int argc, char** argv, char const* bench, char const* library,
                          sizes size) {
    settings const s = parse(argc, argv, size);
    int const n = static_cast<int>(std::min(s.n, 50L));
    pin_if_single(s);
    tulle_runtime runtime(s.workers);
    figure elapsed{"s"};
    figure each{"ns/thread"};
    for (int i = 0; i < s.runs; ++i) {
        long result = 0;
        double time = 0;
        runtime.run([&] { time = time_of([&] { result = fib_by_threads(n); }); });
        bool const right = result == kernels::fib_expected(n);
        elapsed.add(time, right);
        each.add(1e9 * time / static_cast<double>(kernels::fib_spawns(n) + 1), right);
    }
    return print_all(bench, library, s, {elapsed, each});
}

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// fib: a thread per call, hardly any work between. Figures: ns/spawn, the time over the serial
// program's of the same run divided by the number of spawns (all workers' time counts as one: two
// perfect workers show less than nothing), and s, the elapsed time. The serial program makes each
// call (kernels/fib.hpp, fib_serial); the library `serial_inlined` is the one that the compiler may
// inline. Libraries whose threads are dear run a smaller n.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/fib.hpp"

#include <algorithm>

namespace tulle::bench {

inline double time_serial_fib(int n, long& result) {
    keep(n);
    return time_of([&] { result = kernels::fib_serial(n); });
}

template <class Library, bool MayThrow> double time_fib(Library& library, int n, long& result) {
    double elapsed = 0;
    library.run([&] { elapsed = time_of([&] { result = kernels::fib<Library, MayThrow>(n); }); });
    return elapsed;
}

template <class Library, bool MayThrow = false>
int fib_main(int argc, char** argv, sizes size = {35, 27}) {
    size.least = 2; // the least that forks
    settings const s = parse(argc, argv, size);
    int const n = static_cast<int>(std::min(s.n, 60L));
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns/spawn"};
    figure elapsed{"s"};
    long result = 0;
    time_fib<Library, MayThrow>(library, std::min(n, 20), result);
    for (int i = 0; i < s.runs; ++i) {
        double const serial = time_serial_fib(n, result);
        double const parallel = time_fib<Library, MayThrow>(library, n, result);
        bool const right = result == kernels::fib_expected(n);
        cost.add(1e9 * (parallel - serial) / static_cast<double>(kernels::fib_spawns(n)), right);
        elapsed.add(parallel, right);
    }
    return print_all("fib", Library::k_name, s, {cost, elapsed});
}

} // namespace tulle::bench

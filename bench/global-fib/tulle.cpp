// SPDX-License-Identifier: Apache-2.0
// global-fib: fib with a thread for each call that any place may run. Figures: ns/fork, the time
// over that of the same program with calls, divided by the number of forks; ns/fork, here only: the
// same with tulle::fork; s.
#include "../common/kernels/fib.hpp"
#include "../common/places.hpp"

#include <algorithm>

#include <tulle/global_fork.hpp>

namespace tulle::bench {
namespace {

long global_fib(long n) {
    if (n < 2) return n;
    auto older = tulle::global_fork<&global_fib>(n - 1);
    long const younger = global_fib(n - 2);
    return older.join() + younger;
}

double ns_of_each(double all, double calls, long n) {
    return 1e9 * (all - calls) / static_cast<double>(kernels::fib_spawns(static_cast<int>(n)));
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {30, 24, 2});
    tulle_places library(s);
    long n = std::min(s.n, 60L);
    figure global{"ns/fork"}, local{"ns/fork, here only"}, elapsed{"s"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        long calls = 0, here = 0, anywhere = 0;
        keep(n);
        double const by_calls = time_of([&] { calls = kernels::fib_serial(n); });
        double by_fork = 0, by_global_fork = 0;
        library.run([&] {
            by_fork = time_of([&] { here = kernels::fib<tulle_runtime, true>(n); });
            by_global_fork = time_of([&] { anywhere = global_fib(n); });
        });
        if (i < 0) continue;
        global.add(ns_of_each(by_global_fork, by_calls, n), anywhere == calls);
        local.add(ns_of_each(by_fork, by_calls, n), here == calls);
        elapsed.add(by_global_fork, anywhere == kernels::fib_expected(static_cast<int>(n)));
    }
    return print_all("global-fib", "tulle", s, {global, local, elapsed});
}

} // namespace

benchmark const registered("global-fib", "tulle", run);

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// The serial programs, for the elapsed time; they have no spawns to price.
#include "fib.hpp"

#include <algorithm>

namespace {

using namespace tulle::bench;

template <class F> int report(char const* name, settings const& s, F fib) {
    int const n = static_cast<int>(std::min(s.n, 60L));
    figure elapsed{"s"};
    for (int i = 0; i < s.runs; ++i) {
        int argument = n;
        keep(argument);
        long result = 0;
        double const time = time_of([&] { result = fib(argument); });
        elapsed.add(time, result == kernels::fib_expected(n));
    }
    return print_all("fib", name, s, {elapsed});
}

} // namespace

tulle::bench::benchmark const registered("fib", "serial", [](int argc, char** argv) {
    settings const s = parse(argc, argv, {35, 27});
    pin_if_single(s);
    int const with_calls = report("serial", s, kernels::fib_serial);
    int const inlined = report("serial_inlined", s, [](int n) { return kernels::fib_inlined(n); });
    return with_calls != 0 ? with_calls : inlined;
});

// SPDX-License-Identifier: Apache-2.0
// The serial program, for the elapsed time; it has no spawns to price.
#include "fib.hpp"

int main(int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = parse(argc, argv, {35, 27});
    int const n = static_cast<int>(std::min(s.n, 60L));
    pin_if_single(s);
    figure elapsed{"s"};
    for (int i = 0; i < s.runs; ++i) {
        long result = 0;
        double const time = time_serial_fib(n, result);
        elapsed.add(time, result == kernels::fib_expected(n));
    }
    return print_all("fib", "serial", s, {elapsed});
}

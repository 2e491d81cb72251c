// SPDX-License-Identifier: Apache-2.0
// nqueens: counts all placements of n queens, a thread per square tried until 4 rows are left.
// Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/nqueens.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Library> int nqueens_main(int argc, char** argv) {
    constexpr int k_serial_rows = 4;
    settings const s = parse(argc, argv, {13, 9});
    int const n = static_cast<int>(std::min<long>(s.n, kernels::k_nqueens_max));
    pin_if_single(s);
    Library library(s.workers);
    figure elapsed{"s"};
    for (int i = 0; i < s.runs; ++i) {
        std::uint64_t count = 0;
        double time = 0;
        library.run([&] {
            time = time_of([&] {
                count = kernels::nqueens<Library>(kernels::nqueens_empty(n), k_serial_rows);
            });
        });
        elapsed.add(time, count == kernels::nqueens_expected(n));
    }
    return print_all("nqueens", Library::k_name, s, {elapsed});
}

} // namespace tulle::bench

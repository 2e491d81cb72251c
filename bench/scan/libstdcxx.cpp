// SPDX-License-Identifier: Apache-2.0
// The parallel mode of libstdc++.
#include "scan.hpp"

#include <parallel/numeric>

#include <omp.h>

namespace {

void scan(double const* first, double const* last, double* out) {
    __gnu_parallel::partial_sum(first, last, out);
}

} // namespace

tulle::bench::benchmark const registered("scan", "libstdcxx", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = scan_settings(argc, argv);
    omp_set_num_threads(s.workers);
    return scan_main("libstdcxx", s, scan);
});

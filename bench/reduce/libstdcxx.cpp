// SPDX-License-Identifier: Apache-2.0
// The parallel mode of libstdc++.
#include "reduce.hpp"

#include <parallel/numeric>

#include <omp.h>

namespace {

double sum(double const* first, double const* last) {
    return __gnu_parallel::accumulate(first, last, 0.0, __gnu_parallel::parallel_balanced);
}

} // namespace

tulle::bench::benchmark const registered("reduce", "libstdcxx", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = reduce_settings(argc, argv);
    omp_set_num_threads(s.workers);
    return reduce_main("libstdcxx", s, sum);
});

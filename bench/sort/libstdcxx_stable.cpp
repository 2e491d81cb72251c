// SPDX-License-Identifier: Apache-2.0
// The parallel mode of libstdc++.
#include "sort.hpp"

#include <parallel/algorithm>

#include <omp.h>

namespace {

void sort(double* first, double* last) { __gnu_parallel::stable_sort(first, last); }

} // namespace

tulle::bench::benchmark const registered("sort", "libstdcxx_stable", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = sort_settings(argc, argv);
    omp_set_num_threads(s.workers);
    return sort_main("libstdcxx_stable", s, sort);
});

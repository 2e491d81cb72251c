// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "reduce.hpp"

namespace {

double sum(double const* first, double const* last) {
    double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (double const* x = first; x < last; ++x) total += *x;
    return total;
}

} // namespace

tulle::bench::benchmark const registered("reduce", tulle::bench::omp_runtime::k_name,
                                         [](int argc, char** argv) {
                                             using namespace tulle::bench;
                                             settings const s = reduce_settings(argc, argv);
                                             omp_runtime const library(s.workers);
                                             return reduce_main(omp_runtime::k_name, s, sum);
                                         });

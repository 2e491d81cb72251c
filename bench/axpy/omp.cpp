// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "axpy.hpp"

namespace {

void axpy(long n, double a, double const* x, double* y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) y[i] += a * x[i];
}

} // namespace

tulle::bench::benchmark const registered("axpy", tulle::bench::omp_runtime::k_name,
                                         [](int argc, char** argv) {
                                             using namespace tulle::bench;
                                             settings const s = axpy_settings(argc, argv);
                                             omp_runtime const library(s.workers);
                                             return axpy_main(omp_runtime::k_name, s, axpy);
                                         });

// SPDX-License-Identifier: Apache-2.0
#include "axpy.hpp"

namespace {

void axpy(long n, double a, double const* x, double* y) {
    for (long i = 0; i < n; ++i) y[i] += a * x[i];
}

} // namespace

tulle::bench::benchmark const registered("axpy", "serial", [](int argc, char** argv) {
    using namespace tulle::bench;
    return axpy_main("serial", axpy_settings(argc, argv), axpy);
});

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "axpy.hpp"

#include <tulle/parallel_for.hpp>

namespace {

void axpy(long n, double a, double const* x, double* y) {
    tulle::parallel_for(0L, n, [=](long i) { y[i] += a * x[i]; });
}

} // namespace

tulle::bench::benchmark const registered("axpy", "tulle", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = axpy_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = axpy_main("tulle", s, axpy); });
    return result;
});

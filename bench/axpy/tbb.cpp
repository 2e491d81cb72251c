// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "axpy.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace {

void axpy(long n, double a, double const* x, double* y) {
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<long>(0, n),
                              [=](oneapi::tbb::blocked_range<long> const& part) {
                                  for (long i = part.begin(); i != part.end(); ++i)
                                      y[i] += a * x[i];
                              });
}

} // namespace

tulle::bench::benchmark const registered("axpy", "tbb", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = axpy_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = axpy_main("tbb", s, axpy); });
    return result;
});

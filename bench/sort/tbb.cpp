// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "sort.hpp"

#include <oneapi/tbb/parallel_sort.h>

namespace {

void sort(double* first, double* last) { oneapi::tbb::parallel_sort(first, last); }

} // namespace

tulle::bench::benchmark const registered("sort", "tbb", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = sort_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = sort_main("tbb", s, sort); });
    return result;
});

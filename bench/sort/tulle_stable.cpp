// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "sort.hpp"

#include <tulle/parallel_sort.hpp>

namespace {

void sort(double* first, double* last) { tulle::parallel_stable_sort(first, last); }

} // namespace

tulle::bench::benchmark const registered("sort", "tulle_stable", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = sort_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = sort_main("tulle_stable", s, sort); });
    return result;
});

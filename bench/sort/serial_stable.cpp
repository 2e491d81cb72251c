// SPDX-License-Identifier: Apache-2.0
#include "sort.hpp"

#include <algorithm>

namespace {

void sort(double* first, double* last) { std::stable_sort(first, last); }

} // namespace

tulle::bench::benchmark const registered("sort", "serial_stable", [](int argc, char** argv) {
    using namespace tulle::bench;
    return sort_main("serial_stable", sort_settings(argc, argv), sort);
});

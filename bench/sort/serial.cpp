// SPDX-License-Identifier: Apache-2.0
#include "sort.hpp"

#include <algorithm>

namespace {

void sort(double* first, double* last) { std::sort(first, last); }

} // namespace

tulle::bench::benchmark const registered("sort", "serial", [](int argc, char** argv) {
    using namespace tulle::bench;
    return sort_main("serial", sort_settings(argc, argv), sort);
});

// SPDX-License-Identifier: Apache-2.0
#include "sort_sizes.hpp"

#include <algorithm>

namespace tulle::bench {

benchmark const registered("sort-sizes", "serial", [](int argc, char** argv) {
    return sort_sizes_main("serial", sort_sizes_settings(argc, argv),
                           [](double* first, double* last) { std::sort(first, last); });
});

} // namespace tulle::bench

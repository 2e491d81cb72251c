// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "sort_sizes.hpp"

#include <tulle/parallel_sort.hpp>

namespace tulle::bench {

benchmark const registered("sort-sizes", "tulle", [](int argc, char** argv) {
    settings const s = sort_sizes_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] {
        result = sort_sizes_main(
            "tulle", s, [](double* first, double* last) { tulle::parallel_sort(first, last); });
    });
    return result;
});

} // namespace tulle::bench

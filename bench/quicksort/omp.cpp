// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "quicksort.hpp"

namespace tulle::bench {

benchmark const registered("quicksort", omp_runtime::k_name, [](int argc, char** argv) {
    return quicksort_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

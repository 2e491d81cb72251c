// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "quicksort.hpp"

namespace tulle::bench {

benchmark const registered("quicksort", "tbb", [](int argc, char** argv) {
    return quicksort_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "quicksort.hpp"

namespace tulle::bench {

benchmark const registered("quicksort", "tulle", [](int argc, char** argv) {
    return quicksort_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

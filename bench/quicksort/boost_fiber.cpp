// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "quicksort.hpp"

namespace tulle::bench {

benchmark const registered("quicksort", "boost_fiber", [](int argc, char** argv) {
    return quicksort_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

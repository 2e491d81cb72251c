// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "quicksort.hpp"

namespace tulle::bench {

benchmark const registered("quicksort", "serial", [](int argc, char** argv) {
    return quicksort_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

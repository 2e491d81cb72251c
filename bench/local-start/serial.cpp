// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "serial", [](int argc, char** argv) {
    return local_start_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

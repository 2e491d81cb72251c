// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "uts.hpp"

namespace tulle::bench {

benchmark const registered("uts", "serial", [](int argc, char** argv) {
    return uts_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

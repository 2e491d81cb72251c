// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg", "serial", [](int argc, char** argv) {
    return hpccg_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

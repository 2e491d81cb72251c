// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "nqueens.hpp"

namespace tulle::bench {

benchmark const registered("nqueens", "serial", [](int argc, char** argv) {
    return nqueens_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

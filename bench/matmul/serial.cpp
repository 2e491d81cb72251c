// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/serial.hpp"
#include "matmul.hpp"

namespace tulle::bench {

benchmark const registered("matmul", "serial", [](int argc, char** argv) {
    return matmul_main<serial_runtime>(argc, argv);
});

} // namespace tulle::bench

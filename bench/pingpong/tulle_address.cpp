// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/cells.hpp"
#include "../common/libraries/tulle_blocking.hpp"
#include "pingpong.hpp"

namespace tulle::bench {

benchmark const registered("pingpong", "tulle_address", [](int argc, char** argv) {
    using cell = address_cell;
    return pingpong_main<tulle_blocking_runtime, cell>(argc, argv, "tulle_address");
});

} // namespace tulle::bench

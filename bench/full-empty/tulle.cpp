// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/cells.hpp"
#include "../common/libraries/tulle_blocking.hpp"
#include "full_empty.hpp"

namespace tulle::bench {

benchmark const registered("full-empty", "tulle", [](int argc, char** argv) {
    using cell = object_cell;
    return full_empty_main<tulle_blocking_runtime, cell>(argc, argv, "tulle");
});

} // namespace tulle::bench

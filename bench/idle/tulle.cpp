// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "idle.hpp"

namespace tulle::bench {

benchmark const registered("idle", "tulle", [](int argc, char** argv) {
    return idle_main<tulle_blocking_runtime>(argc, argv);
});

} // namespace tulle::bench

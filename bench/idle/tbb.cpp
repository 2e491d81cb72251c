// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "idle.hpp"

namespace tulle::bench {

benchmark const registered("idle", "tbb", [](int argc, char** argv) {
    return idle_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

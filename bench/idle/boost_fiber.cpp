// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "idle.hpp"

namespace tulle::bench {

benchmark const registered("idle", "boost_fiber", [](int argc, char** argv) {
    return idle_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

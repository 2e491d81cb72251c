// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "boost_fiber", [](int argc, char** argv) {
    return local_start_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

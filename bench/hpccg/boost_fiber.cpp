// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg", "boost_fiber", [](int argc, char** argv) {
    return hpccg_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

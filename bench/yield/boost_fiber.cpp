// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "yield.hpp"

namespace tulle::bench {

benchmark const registered("yield", "boost_fiber", [](int argc, char** argv) {
    return yield_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

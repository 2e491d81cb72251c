// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "blocked.hpp"

namespace tulle::bench {

benchmark const registered("blocked", "boost_fiber", [](int argc, char** argv) {
    return blocked_main<boost_fiber_runtime>(argc, argv, {400'000, 20'000});
});

} // namespace tulle::bench

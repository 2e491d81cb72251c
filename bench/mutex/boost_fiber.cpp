// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "mutex.hpp"

namespace tulle::bench {

benchmark const registered("mutex", "boost_fiber", [](int argc, char** argv) {
    return mutex_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

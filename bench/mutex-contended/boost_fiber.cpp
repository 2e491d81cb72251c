// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "mutex_contended.hpp"

namespace tulle::bench {

benchmark const registered("mutex-contended", "boost_fiber", [](int argc, char** argv) {
    return mutex_contended_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

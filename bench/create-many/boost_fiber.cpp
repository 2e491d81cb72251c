// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "create_many.hpp"

namespace tulle::bench {

benchmark const registered("create-many", "boost_fiber", [](int argc, char** argv) {
    return create_many_main<boost_fiber_runtime>(argc, argv, {400'000, 20'000});
});

} // namespace tulle::bench

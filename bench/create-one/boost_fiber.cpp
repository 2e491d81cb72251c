// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "create_one.hpp"

namespace tulle::bench {

benchmark const registered("create-one", "boost_fiber", [](int argc, char** argv) {
    return create_one_main<boost_fiber_runtime>(argc, argv, {100'000, 20'000});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "boost_fiber", [](int argc, char** argv) {
    return fib_main<boost_fiber_runtime>(argc, argv, {22, 17});
});

} // namespace tulle::bench

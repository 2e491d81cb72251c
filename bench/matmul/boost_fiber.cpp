// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "matmul.hpp"

namespace tulle::bench {

benchmark const registered("matmul", "boost_fiber", [](int argc, char** argv) {
    return matmul_main<boost_fiber_runtime>(argc, argv);
});

} // namespace tulle::bench

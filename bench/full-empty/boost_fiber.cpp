// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "full_empty.hpp"

namespace tulle::bench {

benchmark const registered("full-empty", "boost_fiber", [](int argc, char** argv) {
    using cell = monitor_cell<boost::fibers::mutex, boost::fibers::condition_variable>;
    return full_empty_main<boost_fiber_runtime, cell>(argc, argv, "boost_fiber");
});

} // namespace tulle::bench

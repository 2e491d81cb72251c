// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "pingpong.hpp"

namespace tulle::bench {

benchmark const registered("pingpong", "boost_fiber", [](int argc, char** argv) {
    using cell = monitor_cell<boost::fibers::mutex, boost::fibers::condition_variable>;
    return pingpong_main<boost_fiber_runtime, cell>(argc, argv, "boost_fiber", {500'000, 20'000});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "full_empty.hpp"

int main(int argc, char** argv) {
    using cell = tulle::bench::monitor_cell<boost::fibers::mutex, boost::fibers::condition_variable>;
    return tulle::bench::full_empty_main<tulle::bench::boost_fiber_runtime, cell>(argc, argv, "boost_fiber");
}

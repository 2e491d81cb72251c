// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "pingpong.hpp"

namespace tulle::bench {

benchmark const registered("pingpong", "pthread", [](int argc, char** argv) {
    using cell = monitor_cell<std::mutex, std::condition_variable>;
    return pingpong_main<pthread_runtime, cell>(argc, argv, "pthread", {200'000, 5'000});
});

} // namespace tulle::bench

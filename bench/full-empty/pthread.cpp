// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "full_empty.hpp"

namespace tulle::bench {

benchmark const registered("full-empty", "pthread", [](int argc, char** argv) {
    using cell = monitor_cell<std::mutex, std::condition_variable>;
    return full_empty_main<pthread_runtime, cell>(argc, argv, "pthread");
});

} // namespace tulle::bench

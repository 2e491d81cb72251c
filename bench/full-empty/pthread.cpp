// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "full_empty.hpp"

int main(int argc, char** argv) {
    using cell = tulle::bench::monitor_cell<std::mutex, std::condition_variable>;
    return tulle::bench::full_empty_main<tulle::bench::pthread_runtime, cell>(argc, argv, "pthread");
}

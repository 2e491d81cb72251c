// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/monitor_cell.hpp"
#include "pingpong.hpp"

int main(int argc, char** argv) {
    using cell = tulle::bench::monitor_cell<std::mutex, std::condition_variable>;
    return tulle::bench::pingpong_main<tulle::bench::pthread_runtime, cell>(argc, argv, "pthread", {200'000, 5'000});
}

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "../common/libraries/socket_calls.hpp"
#include "connections.hpp"

namespace tulle::bench {

benchmark const registered("connections", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("connections", argc, argv);
    return connections_main<tulle_pthread_runtime, system_calls>(argc, argv);
});

} // namespace tulle::bench

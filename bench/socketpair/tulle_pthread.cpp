// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "../common/libraries/socket_calls.hpp"
#include "socketpair.hpp"

namespace tulle::bench {

benchmark const registered("socketpair", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("socketpair", argc, argv);
    return socketpair_main<tulle_pthread_runtime, system_calls>(argc, argv);
});

} // namespace tulle::bench

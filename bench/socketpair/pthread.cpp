// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/socket_calls.hpp"
#include "socketpair.hpp"

namespace tulle::bench {

benchmark const registered("socketpair", "pthread", [](int argc, char** argv) {
    return socketpair_main<pthread_runtime, system_calls>(argc, argv);
});

} // namespace tulle::bench

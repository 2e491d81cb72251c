// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/socket_calls.hpp"
#include "connections.hpp"

namespace tulle::bench {

benchmark const registered("connections", "pthread",
                           &connections_main<pthread_runtime, system_calls>);

} // namespace tulle::bench

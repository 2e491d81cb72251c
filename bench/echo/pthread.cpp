// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "../common/libraries/socket_calls.hpp"
#include "echo.hpp"

namespace tulle::bench {

benchmark const registered("echo", "pthread", &echo_main<pthread_runtime, system_calls>);

} // namespace tulle::bench

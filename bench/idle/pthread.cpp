// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "idle.hpp"

namespace tulle::bench {

benchmark const registered("idle", "pthread", [](int argc, char** argv) {
    return idle_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

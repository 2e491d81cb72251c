// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "mutex.hpp"

namespace tulle::bench {

benchmark const registered("mutex", "pthread", [](int argc, char** argv) {
    return mutex_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

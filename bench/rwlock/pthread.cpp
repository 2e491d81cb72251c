// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "rwlock.hpp"

#include <shared_mutex>

namespace tulle::bench {

benchmark const registered("rwlock", "pthread", [](int argc, char** argv) {
    return rwlock_main<pthread_runtime, std::shared_mutex>(argc, argv);
});

} // namespace tulle::bench

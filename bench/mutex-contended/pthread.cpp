// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "mutex_contended.hpp"

namespace tulle::bench {

benchmark const registered("mutex-contended", "pthread", [](int argc, char** argv) {
    return mutex_contended_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

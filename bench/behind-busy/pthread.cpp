// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "behind_busy.hpp"

namespace tulle::bench {

benchmark const registered("behind-busy", "pthread", [](int argc, char** argv) {
    return behind_busy_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

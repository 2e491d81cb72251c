// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "behind_blocked.hpp"

namespace tulle::bench {

benchmark const registered("behind-blocked", "pthread", [](int argc, char** argv) {
    return behind_blocked_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

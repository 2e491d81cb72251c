// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "blocked.hpp"

namespace tulle::bench {

benchmark const registered("blocked", "pthread", [](int argc, char** argv) {
    return blocked_main<pthread_runtime>(argc, argv, {8'000, 500});
});

} // namespace tulle::bench

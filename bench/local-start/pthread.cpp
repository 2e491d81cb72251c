// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "pthread", [](int argc, char** argv) {
    return local_start_main<pthread_runtime>(argc, argv, {2'000, 200});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_blocks.hpp"

namespace tulle::bench {

benchmark const registered("create-blocks", "pthread", [](int argc, char** argv) {
    return create_blocks_main<pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_many.hpp"

namespace tulle::bench {

benchmark const registered("create-many", "pthread", [](int argc, char** argv) {
    return create_many_main<pthread_runtime>(argc, argv, {8'000, 500});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "create_one.hpp"

namespace tulle::bench {

benchmark const registered("create-one", "pthread", [](int argc, char** argv) {
    return create_one_main<pthread_runtime>(argc, argv, {10'000, 500});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "yield.hpp"

namespace tulle::bench {

benchmark const registered("yield", "pthread", [](int argc, char** argv) {
    return yield_main<pthread_runtime>(argc, argv, {1'000'000, 50'000, 2});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "pthread", [](int argc, char** argv) {
    return fib_main<pthread_runtime>(argc, argv, {16, 12});
});

} // namespace tulle::bench

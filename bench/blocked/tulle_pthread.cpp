// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "blocked.hpp"

namespace tulle::bench {

benchmark const registered("blocked", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("blocked", argc, argv);
    return blocked_main<tulle_pthread_runtime>(argc, argv, {100'000, 5'000});
});

} // namespace tulle::bench

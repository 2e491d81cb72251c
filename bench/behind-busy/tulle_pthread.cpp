// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "behind_busy.hpp"

namespace tulle::bench {

benchmark const registered("behind-busy", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("behind-busy", argc, argv);
    return behind_busy_main<tulle_pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "yield.hpp"

namespace tulle::bench {

benchmark const registered("yield", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("yield", argc, argv);
    return yield_main<tulle_pthread_runtime>(argc, argv);
});

} // namespace tulle::bench

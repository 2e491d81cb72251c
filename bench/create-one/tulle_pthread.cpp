// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_pthread.hpp"
#include "create_one.hpp"

namespace tulle::bench {

benchmark const registered("create-one", "tulle_pthread", [](int argc, char** argv) {
    run_upon_tulle("create-one", argc, argv);
    return create_one_main<tulle_pthread_runtime>(argc, argv, {300'000, 20'000});
});

} // namespace tulle::bench

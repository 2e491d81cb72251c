// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "idle.hpp"

namespace tulle::bench {

benchmark const registered("idle", omp_runtime::k_name, [](int argc, char** argv) {
    return idle_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

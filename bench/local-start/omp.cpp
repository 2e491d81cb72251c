// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", omp_runtime::k_name, [](int argc, char** argv) {
    return local_start_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

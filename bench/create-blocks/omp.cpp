// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "create_blocks.hpp"

namespace tulle::bench {

benchmark const registered("create-blocks", omp_runtime::k_name, [](int argc, char** argv) {
    return create_blocks_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

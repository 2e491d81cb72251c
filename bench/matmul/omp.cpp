// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "matmul.hpp"

namespace tulle::bench {

benchmark const registered("matmul", omp_runtime::k_name, [](int argc, char** argv) {
    return matmul_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "nqueens.hpp"

namespace tulle::bench {

benchmark const registered("nqueens", omp_runtime::k_name, [](int argc, char** argv) {
    return nqueens_main<omp_runtime>(argc, argv);
});

} // namespace tulle::bench

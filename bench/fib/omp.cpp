// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", omp_runtime::k_name,
                           [](int argc, char** argv) { return fib_main<omp_runtime>(argc, argv); });

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "uts.hpp"

namespace tulle::bench {

benchmark const registered("uts", omp_runtime::k_name,
                           [](int argc, char** argv) { return uts_main<omp_runtime>(argc, argv); });

} // namespace tulle::bench

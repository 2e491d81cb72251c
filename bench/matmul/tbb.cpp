// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "matmul.hpp"

namespace tulle::bench {

benchmark const registered("matmul", "tbb", [](int argc, char** argv) {
    return matmul_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

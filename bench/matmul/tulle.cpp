// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "matmul.hpp"

namespace tulle::bench {

benchmark const registered("matmul", "tulle", [](int argc, char** argv) {
    return matmul_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "nqueens.hpp"

namespace tulle::bench {

benchmark const registered("nqueens", "tbb", [](int argc, char** argv) {
    return nqueens_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

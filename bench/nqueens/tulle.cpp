// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "nqueens.hpp"

namespace tulle::bench {

benchmark const registered("nqueens", "tulle", [](int argc, char** argv) {
    return nqueens_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

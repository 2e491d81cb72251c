// SPDX-License-Identifier: Apache-2.0
#include "placed_loops.hpp"

namespace tulle::bench {

benchmark const registered("hpccg", "tulle_pinned", [](int argc, char** argv) {
    return hpccg_main<placed_runtime<true>, placed_loops>(argc, argv);
});

} // namespace tulle::bench

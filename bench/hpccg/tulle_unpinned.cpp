// SPDX-License-Identifier: Apache-2.0
#include "placed_loops.hpp"

namespace tulle::bench {

benchmark const registered("hpccg", "tulle_unpinned", [](int argc, char** argv) {
    return hpccg_main<placed_runtime<false>, placed_loops>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "tulle_hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg-places", "tulle", [](int argc, char** argv) {
    return tulle_hpccg_main<kernels::hpccg_places>(argc, argv, "tulle");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "tulle_hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg-places", "tulle_async", [](int argc, char** argv) {
    return tulle_hpccg_main<kernels::hpccg_places_async>(argc, argv, "tulle_async");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg", "tulle", [](int argc, char** argv) {
    return hpccg_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

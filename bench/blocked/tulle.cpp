// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "blocked.hpp"

namespace tulle::bench {

benchmark const registered("blocked", "tulle", [](int argc, char** argv) {
    return blocked_main<tulle_blocking_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "wake.hpp"

namespace tulle::bench {

benchmark const registered("wake", "tulle", [](int argc, char** argv) {
    return wake_main<tulle_blocking_runtime>(argc, argv);
});

} // namespace tulle::bench

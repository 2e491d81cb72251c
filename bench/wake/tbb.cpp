// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "wake.hpp"

namespace tulle::bench {

benchmark const registered("wake", "tbb", [](int argc, char** argv) {
    return wake_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

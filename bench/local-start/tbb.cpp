// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "tbb", [](int argc, char** argv) {
    return local_start_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

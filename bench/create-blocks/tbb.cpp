// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "create_blocks.hpp"

namespace tulle::bench {

benchmark const registered("create-blocks", "tbb", [](int argc, char** argv) {
    return create_blocks_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "create_blocks.hpp"

namespace tulle::bench {

benchmark const registered("create-blocks", "tulle", [](int argc, char** argv) {
    return create_blocks_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

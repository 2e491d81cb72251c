// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "create_many.hpp"

namespace tulle::bench {

benchmark const registered("create-many", "tbb", [](int argc, char** argv) {
    return create_many_main<tbb_runtime>(argc, argv);
});

} // namespace tulle::bench

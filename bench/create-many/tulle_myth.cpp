// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "create_many.hpp"

namespace tulle::bench {

benchmark const registered("create-many", "tulle_myth", [](int argc, char** argv) {
    return create_many_main<tulle_myth_runtime>(argc, argv);
});

} // namespace tulle::bench

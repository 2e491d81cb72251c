// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_c.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "tulle_c", [](int argc, char** argv) {
    return local_start_main<tulle_c_runtime>(argc, argv);
});

} // namespace tulle::bench

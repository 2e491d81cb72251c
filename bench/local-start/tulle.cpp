// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "local_start.hpp"

namespace tulle::bench {

benchmark const registered("local-start", "tulle", [](int argc, char** argv) {
    return local_start_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

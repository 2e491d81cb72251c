// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "mutex.hpp"

namespace tulle::bench {

benchmark const registered("mutex", "tulle", [](int argc, char** argv) {
    return mutex_main<tulle_blocking_runtime>(argc, argv);
});

} // namespace tulle::bench

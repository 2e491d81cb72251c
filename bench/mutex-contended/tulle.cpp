// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "mutex_contended.hpp"

namespace tulle::bench {

benchmark const registered("mutex-contended", "tulle", [](int argc, char** argv) {
    return mutex_contended_main<tulle_blocking_runtime>(argc, argv);
});

} // namespace tulle::bench

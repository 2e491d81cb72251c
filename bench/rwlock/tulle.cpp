// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "rwlock.hpp"

#include <tulle/shared_mutex.hpp>

namespace tulle::bench {

benchmark const registered("rwlock", "tulle", [](int argc, char** argv) {
    return rwlock_main<tulle_blocking_runtime, tulle::shared_mutex>(argc, argv);
});

} // namespace tulle::bench

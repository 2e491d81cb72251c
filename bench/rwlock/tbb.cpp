// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "rwlock.hpp"

#include <oneapi/tbb/rw_mutex.h>

namespace tulle::bench {

benchmark const registered("rwlock", "tbb", [](int argc, char** argv) {
    return rwlock_main<tbb_runtime, oneapi::tbb::rw_mutex>(argc, argv);
});

} // namespace tulle::bench

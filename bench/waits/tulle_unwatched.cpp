// SPDX-License-Identifier: Apache-2.0
// Without reports of deadlocks.
#include "waits.hpp"

#include <cstdlib>

namespace tulle::bench {

benchmark const registered("waits", "tulle_unwatched", [](int argc, char** argv) {
    setenv("TULLE_DEADLOCK", "off", 1);
    return waits_main(argc, argv, "tulle_unwatched");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "../common/libraries/tulle_io.hpp"
#include "socketpair.hpp"

namespace tulle::bench {

benchmark const registered("socketpair", "tulle", [](int argc, char** argv) {
    return socketpair_main<tulle_blocking_runtime, tulle_calls>(argc, argv);
});

} // namespace tulle::bench

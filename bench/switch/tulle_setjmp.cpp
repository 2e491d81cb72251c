// SPDX-License-Identifier: Apache-2.0
#include "backend_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle_setjmp", [](int argc, char** argv) {
    using pair = backend_pair<tulle::arch::setjmp_backend>;
    return switch_main<pair>(argc, argv, "tulle_setjmp");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "backend_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle", [](int argc, char** argv) {
    using pair = backend_pair<tulle::arch::backend>;
    return switch_main<pair>(argc, argv, "tulle");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "preloaded_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle_preloaded", [](int argc, char** argv) {
    return switch_main<preloaded_pair<true>>(argc, argv, "tulle_preloaded", {2'000'000, 50'000});
});

} // namespace tulle::bench

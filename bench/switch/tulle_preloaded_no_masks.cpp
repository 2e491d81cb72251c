// SPDX-License-Identifier: Apache-2.0
#include "preloaded_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle_preloaded_no_masks", [](int argc, char** argv) {
    return switch_main<preloaded_pair<false>>(argc, argv, "tulle_preloaded_no_masks",
                                              {20'000'000, 400'000});
});

} // namespace tulle::bench

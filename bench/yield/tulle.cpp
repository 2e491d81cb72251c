// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "yield.hpp"

namespace tulle::bench {

benchmark const registered("yield", "tulle", [](int argc, char** argv) {
    return yield_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

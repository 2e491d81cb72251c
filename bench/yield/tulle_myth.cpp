// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "yield.hpp"

namespace tulle::bench {

benchmark const registered("yield", "tulle_myth", [](int argc, char** argv) {
    return yield_main<tulle_myth_runtime>(argc, argv);
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "uts.hpp"

namespace tulle::bench {

benchmark const registered("uts", "tulle", [](int argc, char** argv) {
    return uts_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

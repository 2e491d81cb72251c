// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "uts.hpp"

namespace tulle::bench {

benchmark const registered("uts", "tbb",
                           [](int argc, char** argv) { return uts_main<tbb_runtime>(argc, argv); });

} // namespace tulle::bench

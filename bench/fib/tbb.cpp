// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "tbb",
                           [](int argc, char** argv) { return fib_main<tbb_runtime>(argc, argv); });

} // namespace tulle::bench

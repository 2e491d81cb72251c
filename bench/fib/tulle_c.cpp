// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_c.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "tulle_c", [](int argc, char** argv) {
    return fib_main<tulle_c_runtime>(argc, argv);
});

} // namespace tulle::bench

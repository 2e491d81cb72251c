// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "tulle", [](int argc, char** argv) {
    return fib_main<tulle_runtime>(argc, argv);
});

} // namespace tulle::bench

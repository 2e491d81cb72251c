// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "tulle_myth", [](int argc, char** argv) {
    return fib_main<tulle_myth_runtime>(argc, argv, {30, 22});
});

} // namespace tulle::bench

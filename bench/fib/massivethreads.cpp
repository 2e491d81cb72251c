// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/myth.hpp"
#include "fib.hpp"

namespace tulle::bench {

benchmark const registered("fib", "massivethreads", [](int argc, char** argv) {
    return fib_main<massivethreads_runtime>(argc, argv, {30, 22});
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "../common/libraries/tulle_io.hpp"
#include "echo.hpp"

namespace tulle::bench {

benchmark const registered("echo", "tulle", &echo_main<tulle_blocking_runtime, tulle_calls>);

} // namespace tulle::bench

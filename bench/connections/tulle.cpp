// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "../common/libraries/tulle_io.hpp"
#include "connections.hpp"

namespace tulle::bench {

benchmark const registered("connections", "tulle",
                           &connections_main<tulle_blocking_runtime, tulle_calls>);

} // namespace tulle::bench

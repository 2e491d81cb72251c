// SPDX-License-Identifier: Apache-2.0
#include "wake.hpp"

namespace tulle::bench {

benchmark const registered("wake", "futex",
                           [](int argc, char** argv) { return wake_main<raw_futex>(argc, argv); });

} // namespace tulle::bench

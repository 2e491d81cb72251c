// SPDX-License-Identifier: Apache-2.0
#include "waits.hpp"

namespace tulle::bench {

benchmark const registered("waits", "tulle",
                           [](int argc, char** argv) { return waits_main(argc, argv, "tulle"); });

} // namespace tulle::bench

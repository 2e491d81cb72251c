// SPDX-License-Identifier: Apache-2.0
#include "shepherds.hpp"

namespace tulle::bench {

benchmark const registered("qthreads", "tulle_1",
                           [](int argc, char** argv) { return shepherds_main(argc, argv, 1); });

} // namespace tulle::bench

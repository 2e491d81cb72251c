// SPDX-License-Identifier: Apache-2.0
#include "shepherds.hpp"

namespace tulle::bench {

benchmark const registered("qthreads", "tulle_4",
                           [](int argc, char** argv) { return shepherds_main(argc, argv, 4); });

} // namespace tulle::bench

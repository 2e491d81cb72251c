// SPDX-License-Identifier: Apache-2.0
#include "mpi_window.hpp"

namespace tulle::bench {

benchmark const registered("onesided-sizes", "openmpi", [](int argc, char** argv) {
    return mpi_window_main(argc, argv, "openmpi");
});

} // namespace tulle::bench

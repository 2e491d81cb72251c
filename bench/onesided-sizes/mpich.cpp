// SPDX-License-Identifier: Apache-2.0
#include "mpi_window.hpp"

namespace tulle::bench {

benchmark const registered("onesided-sizes", "mpich", [](int argc, char** argv) {
    return mpi_window_main(argc, argv, "mpich");
});

} // namespace tulle::bench

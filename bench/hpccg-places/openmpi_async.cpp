// SPDX-License-Identifier: Apache-2.0
#include "mpi_hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg-places", "openmpi_async", [](int argc, char** argv) {
    return mpi_hpccg_main<mpi_neighbours_async>(argc, argv, "openmpi_async");
});

} // namespace tulle::bench

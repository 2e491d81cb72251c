// SPDX-License-Identifier: Apache-2.0
#include "mpi_hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg-places", "mpich_async", [](int argc, char** argv) {
    return mpi_hpccg_main<mpi_neighbours_async>(argc, argv, "mpich_async");
});

} // namespace tulle::bench

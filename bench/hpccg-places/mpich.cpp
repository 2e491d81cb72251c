// SPDX-License-Identifier: Apache-2.0
#include "mpi_hpccg.hpp"

namespace tulle::bench {

benchmark const registered("hpccg-places", "mpich", [](int argc, char** argv) {
    return mpi_hpccg_main(argc, argv, "mpich");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "mpi_barrier.hpp"

namespace tulle::bench {

benchmark const registered("barrier", "mpich", [](int argc, char** argv) {
    return mpi_barrier_main(argc, argv, "mpich");
});

} // namespace tulle::bench

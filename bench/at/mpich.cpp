// SPDX-License-Identifier: Apache-2.0
#include "mpi_calls.hpp"

namespace tulle::bench {

benchmark const registered("at", "mpich", [](int argc, char** argv) {
    return mpi_calls_main(argc, argv, "mpich");
});

} // namespace tulle::bench

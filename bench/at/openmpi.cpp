// SPDX-License-Identifier: Apache-2.0
#include "mpi_calls.hpp"

namespace tulle::bench {

benchmark const registered("at", "openmpi", [](int argc, char** argv) {
    return mpi_calls_main(argc, argv, "openmpi");
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "mpi_lock.hpp"

namespace tulle::bench {

benchmark const registered("process-lock", "openmpi", [](int argc, char** argv) {
    return mpi_lock_main(argc, argv, "openmpi");
});

} // namespace tulle::bench

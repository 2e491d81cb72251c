// SPDX-License-Identifier: Apache-2.0
// What the programs of an MPI have in common: how they end.
#pragma once

#include "mpi/end_without_finalize.hpp"

#include <mpi.h>

namespace tulle::bench {

inline bool has_several_hosts() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int of_host = 0;
    int of_all = 0;
    MPI_Comm_size(host, &of_host);
    MPI_Comm_size(MPI_COMM_WORLD, &of_all);
    MPI_Comm_free(&host);
    return of_host != of_all;
}

// In place of MPI_Finalize, by all ranks.
inline void end_mpi() {
    bool const hangs_perhaps = has_several_hosts();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!(hangs_perhaps && mpi::end_without_finalize())) MPI_Finalize();
}

} // namespace tulle::bench

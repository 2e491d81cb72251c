// SPDX-License-Identifier: Apache-2.0
// barrier with an MPI alone, without threads.
#pragma once

#include "../common/harness.hpp"
#include "../common/libraries/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <thread>

namespace tulle::bench {

inline int mpi_barrier_main(int argc, char** argv, char const* name) {
    settings s = parse(argc, argv, {20'000, 2'000});
    if (s.places > static_cast<int>(std::thread::hardware_concurrency()))
        s.n = std::max(1L, s.n / 50); // MPICH takes milliseconds for each then
    MPI_Init(&argc, &argv);
    int rank = 0;
    int count = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    figure cost{"ns"};
    for (int run = -1; run < s.runs; ++run) { // run -1 warms up
        long const n = run < 0 ? 100 : s.n;
        double const time = time_of([n] {
            for (long k = 0; k < n; ++k) MPI_Barrier(MPI_COMM_WORLD);
        });
        if (run >= 0) cost.add(1e9 * time / static_cast<double>(n), count == s.places);
    }
    int const code = rank == 0 ? print_all("barrier", name, s, {cost}) : 0;
    end_mpi();
    return code;
}

} // namespace tulle::bench

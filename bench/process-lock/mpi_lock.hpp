// SPDX-License-Identifier: Apache-2.0
// process-lock with an MPI alone: the lock of a window, and the counter in it.
#pragma once

#include "../common/libraries/mpi.hpp"
#include "../common/processes.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace tulle::bench {

// Ranks that take no part leave the processors to those that do.
inline void meet_asleep() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int done = 0; done == 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

inline void count_once(MPI_Win window) {
    long value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
}

struct mpi_counter {
    int rank;
    MPI_Win window;
    long* count;

    [[nodiscard]] counted operator()(int processes, long most) const {
        // A turn takes milliseconds where there are more ranks than processors.
        bool const have_processors =
            processes <= static_cast<int>(std::thread::hardware_concurrency());
        long const turns = std::max(2L, most / (have_processors ? 50 : 1000));
        if (rank == 0) *count = 0;
        MPI_Comm those = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &those);
        interval whole;
        if (those != MPI_COMM_NULL) {
            MPI_Barrier(those);
            interval const own = interval_of([&] {
                for (long k = 0; k < turns; ++k) count_once(window);
            });
            MPI_Allreduce(&own.began, &whole.began, 1, MPI_DOUBLE, MPI_MIN, those);
            MPI_Allreduce(&own.ended, &whole.ended, 1, MPI_DOUBLE, MPI_MAX, those);
            MPI_Comm_free(&those);
        }
        meet_asleep();
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window); // its stores are there
        MPI_Win_unlock(0, window);
        long const counted_up = turns * processes;
        return {whole.ended - whole.began, counted_up, rank != 0 || *count == counted_up};
    }
};

inline int mpi_lock_main(int argc, char** argv, char const* name) {
    settings const s = parse(argc, argv, {100'000, 10'000, 20});
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long* count = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(rank == 0 ? sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &count, &window);
    auto const figures = count_by_processes(s, s.n, mpi_counter{rank, window, count});
    int const code = rank == 0 ? print_all("process-lock", name, s, figures) : 0;
    MPI_Win_free(&window);
    end_mpi();
    return code;
}

} // namespace tulle::bench

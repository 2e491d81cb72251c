// SPDX-License-Identifier: Apache-2.0
// onesided-sizes with an MPI alone: a window of each rank, MPI_Get and MPI_Put, completed one by
// one. The other ranks serve.
#pragma once

#include "../common/libraries/mpi.hpp"
#include "onesided_sizes.hpp"

#include <algorithm>

#include <mpi.h>

#include <sched.h>

namespace tulle::bench {

class mpi_window {
public:
    mpi_window() {
        MPI_Win_allocate(static_cast<MPI_Aint>(k_largest), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &m_own,
                         &m_window);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, m_window);
    }
    ~mpi_window() {
        MPI_Win_unlock_all(m_window);
        MPI_Win_free(&m_window);
    }
    mpi_window(mpi_window const&) = delete;
    mpi_window& operator=(mpi_window const&) = delete;

    void read(int rank, unsigned char* to, std::size_t bytes) const {
        auto const count = static_cast<int>(bytes);
        MPI_Get(to, count, MPI_BYTE, rank, 0, count, MPI_BYTE, m_window);
        MPI_Win_flush(rank, m_window);
    }
    void write(int rank, unsigned char const* from, std::size_t bytes) const {
        auto const count = static_cast<int>(bytes);
        MPI_Put(from, count, MPI_BYTE, rank, 0, count, MPI_BYTE, m_window);
        MPI_Win_flush(rank, m_window);
    }

private:
    void* m_own = nullptr;
    MPI_Win m_window = MPI_WIN_NULL;
};

// It looks all the time, as some MPIs serve the others only then; where processes share a
// processor, the others have it in between.
inline void serve_until_all_come() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int is_over = 0; is_over == 0;) {
        MPI_Test(&all, &is_over, MPI_STATUS_IGNORE);
        if (is_over == 0) sched_yield();
    }
}

inline int mpi_window_main(int argc, char** argv, char const* name) {
    settings s = parse(argc, argv, k_sizes_counts);
    // Where the other has to look, each takes some microseconds.
    s.n = std::max(k_sizes_counts.least, s.n / 40);
    MPI_Init(&argc, &argv);
    int rank = 0;
    int count = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    int code = 2;
    if (count == s.places) {
        mpi_window window;
        code = rank == 0
                   ? print_all("onesided-sizes", name, s, size_measurement(window, s).measure())
                   : 0;
        serve_until_all_come();
    }
    end_mpi();
    return code;
}

} // namespace tulle::bench

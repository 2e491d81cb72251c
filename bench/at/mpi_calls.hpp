// SPDX-License-Identifier: Apache-2.0
// at with an MPI alone, without threads: a message there, to a rank that waits for nothing else,
// and its answer. Nothing is called and nothing is allocated, so it is what a call over that MPI
// could reach at best.
#pragma once

#include "../common/libraries/mpi.hpp"
#include "at.hpp"

#include <mpi.h>

#include <cstdio>
#include <vector>

namespace tulle::bench {

enum mpi_tag : int { k_answer_nothing, k_answer_as_much, k_tell_served, k_end };

struct mpi_calls {
    std::vector<std::byte> bytes = std::vector<std::byte>(k_payload_sizes.back());

    bool exchange(std::size_t size, mpi_tag tag) {
        MPI_Send(bytes.data(), static_cast<int>(size), MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        MPI_Status status;
        MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 1, tag, MPI_COMM_WORLD,
                 &status);
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        return count == (tag == k_answer_as_much ? static_cast<int>(size) : 0);
    }
    // How many messages it has answered.
    [[nodiscard]] long served() {
        MPI_Send(nullptr, 0, MPI_BYTE, 1, k_tell_served, MPI_COMM_WORLD);
        long count = 0;
        MPI_Recv(&count, 1, MPI_LONG, 1, k_tell_served, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return count;
    }
    bool call() { return exchange(0, k_answer_nothing); }
    bool statement(std::size_t size) { return exchange(size, k_answer_nothing); }
    bool expression(std::size_t size) { return exchange(size, k_answer_as_much); }
};

inline void answer_all() {
    std::vector<std::byte> bytes(k_payload_sizes.back());
    for (long served = 0;; ++served) {
        MPI_Status status;
        MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == k_end) return;
        if (status.MPI_TAG == k_tell_served) {
            MPI_Send(&served, 1, MPI_LONG, 0, k_tell_served, MPI_COMM_WORLD);
            --served;
            continue;
        }
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Send(bytes.data(), status.MPI_TAG == k_answer_as_much ? count : 0, MPI_BYTE, 0,
                 status.MPI_TAG, MPI_COMM_WORLD);
    }
}

inline int mpi_calls_main(int argc, char** argv, char const* name) {
    settings const s = parse(argc, argv, {50'000, 5'000});
    MPI_Init(&argc, &argv);
    int rank = 0;
    int count = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    int code = 0;
    if (count != 2) {
        if (rank == 0)
            std::fprintf(stderr, "there are %d ranks and not 2: start it with mpirun -n 2\n",
                         count);
        code = 2;
    } else if (rank == 1) {
        answer_all();
    } else {
        std::vector<figure> const figures = measure_calls(mpi_calls(), s);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, k_end, MPI_COMM_WORLD);
        code = print_all("at", name, s, figures);
    }
    end_mpi();
    return code;
}

} // namespace tulle::bench

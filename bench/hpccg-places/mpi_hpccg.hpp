// SPDX-License-Identifier: Apache-2.0
// hpccg-places with an MPI alone, without threads.
#pragma once

#include "../common/libraries/mpi.hpp"
#include "hpccg_places.hpp"

#include "../common/libraries/serial.hpp"

#include <mpi.h>

#include <array>
#include <memory>

namespace tulle::bench {

struct mpi_neighbours {
    [[nodiscard]] static int rank() {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
    [[nodiscard]] static int size() {
        int size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        return size;
    }
    [[nodiscard]] static double sum(double value) {
        double all = 0;
        MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return all;
    }
    static void exchange(kernels::hpccg_faces const& faces) {
        std::array<MPI_Request, 4> under_way{};
        under_way.fill(MPI_REQUEST_NULL);
        if (faces.below.size != 0) swap(faces.below, rank() - 1, under_way.data());
        if (faces.above.size != 0) swap(faces.above, rank() + 1, under_way.data() + 2);
        MPI_Waitall(static_cast<int>(under_way.size()), under_way.data(), MPI_STATUSES_IGNORE);
    }

private:
    static void swap(kernels::hpccg_face const& face, int other, MPI_Request* two) {
        auto const count = static_cast<int>(face.size);
        MPI_Irecv(face.theirs, count, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &two[0]);
        MPI_Isend(face.own, count, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &two[1]);
    }
};

// Sums may be under way while their process goes on.
struct mpi_neighbours_async : mpi_neighbours {
    struct under_way {
        std::unique_ptr<std::array<double, 2>> own_all;
        MPI_Request request = MPI_REQUEST_NULL;
        [[nodiscard]] double get() {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            return (*own_all)[1];
        }
    };
    [[nodiscard]] static under_way begin_sum(double value) {
        under_way sum{std::make_unique<std::array<double, 2>>(std::array{value, 0.0})};
        auto& [own, all] = *sum.own_all;
        MPI_Iallreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &sum.request);
        return sum;
    }
};

template <class Neighbours = mpi_neighbours>
int mpi_hpccg_main(int argc, char** argv, char const* name) {
    hpccg_settings const s(argc, argv);
    MPI_Init(&argc, &argv);
    using loops = kernels::fork_join_loops<serial_runtime>;
    auto const mine =
        kernels::hpccg_by_parts<loops>(s.domain, kernels::k_hpccg_iterations, s.runs, Neighbours());
    int const here = mine.right && mpi_neighbours::size() == s.places ? 1 : 0;
    int everywhere = 0;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int const code = mpi_neighbours::rank() == 0 ? print_hpccg(s, name, mine, everywhere == 1) : 0;
    end_mpi();
    return code;
}

} // namespace tulle::bench

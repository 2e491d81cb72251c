// SPDX-License-Identifier: Apache-2.0
// Processes that a launcher of an MPI has started (mpirun, srun, `tulle run --hosts`): finds out
// that it has, loads the plug-in for that MPI, and makes the transport.
//   TULLE_TRANSPORT   none: each process runs alone; mpi, openmpi, mpich: they are places, over
//                     this MPI; otherwise they are if a launcher has left its traces in the
//                     environment, there are two at least, and the program does not use MPI itself.
//   TULLE_ON_HOST     mpi: places of one host use MPI, too, instead of memory that they share.
#pragma once

#include "net/packet.hpp"
#include "net/transport.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace tulle::membership {

[[nodiscard]] bool is_in_mpi_job() noexcept;

// So many places share this host's processors, as far as the launcher says; at least 1.
[[nodiscard]] int places_of_host() noexcept;

struct mpi_job {
    std::unique_ptr<net::transport> transport;
    void (*finish)() noexcept; // MPI, when the transport has been closed
    bool tells_deaths;         // instead of ending all places when one dies
};

// An option that all places must have alike, since each computes by it what others have.
struct common_option {
    char const* variable; // its name in the environment
    std::uint64_t value;
};

// The main thread calls this once. It waits for the other places, which do the same, with as many
// options. An error ends the process with a message. Throws std::bad_alloc.
[[nodiscard]] mpi_job join_mpi_job(std::span<common_option const> options);

} // namespace tulle::membership

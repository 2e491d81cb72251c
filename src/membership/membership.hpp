// SPDX-License-Identifier: Apache-2.0
// How a process becomes a place, and how it ends. The process that starts it says so in the
// environment:
// TULLE_PLACE=RANK/COUNT@shm:DESCRIPTOR,DESCRIPTOR (net/session.hpp), or the traces of an MPI's
// launcher (membership/mpi_job.hpp); then it may be told what becomes of the process
// (membership/place_report.hpp).
#pragma once

namespace tulle::membership {

// The main thread calls this once the scheduler runs. At place 0 it returns when all others are
// there. At the others it does not return: the process serves until place 0 ends, and exits. In a
// process that is no place it does nothing. An error ends the process with a message.
void join_from_environment();

// Settings, before the process joins: the other places go on when one dies; what is sent is
// searched for addresses; the CPU which is kept for messages, -1: none; how many places, the last
// ones, have memory and run no threads of the program.
void set_survival(bool survives) noexcept;
void set_check(bool is_wanted) noexcept;
void reserve_processor(int cpu) noexcept;
void set_memory_places(unsigned count) noexcept;

// Whether the environment names a place, and the process has not taken it yet.
[[nodiscard]] bool is_asked_to_join() noexcept;

// Place 0 ends the others. Called by finalize, and at the end of the process.
void leave() noexcept;

// Called in a child process, which is no place.
void forget() noexcept;

} // namespace tulle::membership

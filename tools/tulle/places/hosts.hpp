// SPDX-License-Identifier: Apache-2.0
// A program at places on several hosts: started by the launcher of an MPI. It starts `tulle run` at
// each place, which starts the program there (job_place.hpp).
#pragma once

#include "process.hpp"
#include "tagged_output.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tulle::tool {

struct hosts_request {
    arguments words;
    std::string hosts;   // "a,b:2", with numbers of places; empty: those of the allocation
    unsigned places = 0; // 0: as the numbers say, or one on each host
    tagging tags = tagging::others;
    std::string mpi;                    // "openmpi" or "mpich"; empty: the first one that is there
    std::chrono::seconds start_limit{}; // for all places to be started; 0: none
    std::chrono::seconds host_limit{};  // for hosts that are silent; 0: none
};

// Of `mpi`, or any if that is empty, those whose launcher and plug-in are there; the surest first.
// Throws failure: there is none.
[[nodiscard]] std::vector<std::string> usable_mpis(std::string const& mpi);

// Whether so many places can be on the hosts of a list as above, one on each at least. Throws
// failure (usage): it is no such list.
[[nodiscard]] bool hold_places(std::string const& list, unsigned places);

// What comes before a program that links this MPI itself, for it to run on these hosts. Throws
// failure: as run_on_hosts.
[[nodiscard]] arguments launcher_on_hosts(std::string const& mpi, std::string const& list,
                                          unsigned places);

// Whether a batch system has given this process several hosts.
[[nodiscard]] bool has_allocation();

// The exit code of place 0, or of the place that failed first. Throws failure: no launcher, or it
// cannot be used.
int run_on_hosts(hosts_request const& request);

} // namespace tulle::tool

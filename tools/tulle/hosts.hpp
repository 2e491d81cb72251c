// SPDX-License-Identifier: Apache-2.0
// A program at places on several hosts: started by the launcher of an MPI. It starts `tulle run` at each place, which
// starts the program there (job_place.hpp).
#pragma once

#include "process.hpp"
#include "tagged_output.hpp"

#include <string>

namespace tulle::tool {

struct hosts_request {
    arguments words;
    std::string hosts;   // "a,b:2", with numbers of places; empty: those of the allocation
    unsigned places = 0; // 0: as the numbers say, or one on each host
    tagging tags = tagging::others;
    std::string mpi; // "openmpi" or "mpich"; empty: the first one that is there
};

// Whether a batch system has given this process several hosts.
[[nodiscard]] bool has_allocation();

// The exit code of place 0, or of the place that failed first. Throws failure: no launcher, or it cannot be used.
int run_on_hosts(hosts_request const& request);

} // namespace tulle::tool

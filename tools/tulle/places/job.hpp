// SPDX-License-Identifier: Apache-2.0
// A launcher of an MPI as it runs: what it says goes on, less the words in which places tell what
// becomes of them, because launchers have exit codes of their own when a process ends badly.
#pragma once

#include "places/launcher_watch.hpp"
#include "process.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tulle::tool {

// Whether the user has asked that places go on when another one dies; some launchers can do that.
[[nodiscard]] bool wants_survivors();

struct job_request {
    arguments launcher;
    unsigned places = 0;
    // Of the places, in their order, as the user has named them; empty: not known.
    std::vector<std::string> hosts;
    std::chrono::seconds start_limit{}; // for all places to be started; 0: none
    // That the launcher passes on; else it gets one that has neither bytes nor an end.
    bool has_input = true;
};

// The exit code: what the first place has told that ended badly; else that of the launcher. Signals
// are passed on to it. Throws failure: it cannot be started.
int run_job(job_request const& request, launcher_watch& watch);

} // namespace tulle::tool

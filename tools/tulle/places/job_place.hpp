// SPDX-License-Identifier: Apache-2.0
// One place of a job that an MPI's launcher has started: what the launcher runs instead of the
// program. It runs the program, passes on what it prints with the tag of the place, and names the
// place when the program ends badly, which ends the job. When the launcher's host is lost the
// program ends, and what the launcher has started on this host.
#pragma once

#include "process.hpp"
#include "tagged_output.hpp"

#include <chrono>

namespace tulle::tool {

// The exit code for the launcher; that of the program, or 128 + signal, is told to run_job
// (job.hpp). Throws failure: it cannot be started, or this is no job.
// `has_input`: the launcher passes input on to the first place. `whole_lines`: what is printed goes
// to `tulle run` in parts (job_words.hpp). `host_limit`: of the silence of the launcher's host;
// 0: none.
int run_job_place(arguments const& words, tagging tags, bool has_input, bool whole_lines,
                  std::chrono::seconds host_limit);

} // namespace tulle::tool

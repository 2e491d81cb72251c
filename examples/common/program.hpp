// SPDX-License-Identifier: Apache-2.0
//
// What every example's main() has in common: its command line with the shared options, exit codes,
// the run time.
#pragma once

#include "command_line.hpp"

#include <cstddef>

namespace examples {

inline constexpr int k_exit_ok = 0;
inline constexpr int k_exit_check_failed = 1;
inline constexpr int k_exit_trouble = 2; // bad options, unreadable files

struct common_options {
    int workers = 0; // 0: as many as the program may use CPUs
    int runs = 1;
    bool progress = false;
    bool peers = true;
    bool tsv = false;
};

// Adds --workers and --progress.
void add_worker_options(command_line& line, common_options& options);

// Adds those and --runs, --no-peers and --tsv, for the programs that compare libraries.
void add_contest_options(command_line& line, common_options& options);

// The Tulle runtime for the life of this object, with the workers asked for. stack_size 0: the
// default.
class runtime_session {
public:
    explicit runtime_session(common_options const& options, std::size_t stack_size = 0);
    ~runtime_session();
    runtime_session(runtime_session const&) = delete;
    runtime_session& operator=(runtime_session const&) = delete;
};

} // namespace examples

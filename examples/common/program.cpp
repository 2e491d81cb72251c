// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <tulle/tulle.hpp>

namespace examples {

void add_worker_options(command_line& line, common_options& options) {
    line.number("-w,--workers", options.workers,
                "workers to run on; 0: one per CPU that the program may use", 0, 4096);
    line.flag("--progress", options.progress,
              "show progress even when the standard error is no terminal");
}

void add_contest_options(command_line& line, common_options& options) {
    add_worker_options(line, options);
    line.number("--runs", options.runs, "times to run each library; the median is printed", 1,
                1000);
    line.flag("!--no-peers", options.peers,
              "run Tulle only: neither the serial version nor other libraries");
    line.flag("--tsv", options.tsv,
              "print tab-separated values: program, input, library, role, value, unit, check");
}

runtime_session::runtime_session(common_options const& options, std::size_t stack_size) {
    tulle::initialize({.workers = options.workers, .stack_size = stack_size});
}

runtime_session::~runtime_session() { tulle::finalize(); }

} // namespace examples

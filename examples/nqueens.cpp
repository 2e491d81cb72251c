// SPDX-License-Identifier: Apache-2.0
//
// Counts the ways to place n queens on a board, a thread for each square tried.
#include "kernels/nqueens.hpp"
#include "common/contest.hpp"
#include "common/policies.hpp"

namespace {

using namespace examples;

bool count(int n, int serial_rows, common_options const& options) {
    std::uint64_t found = 0;
    contest event{"nqueens", std::to_string(n) + " queens", [&found] { found = 0; },
                  [&found, n] { return found == kernels::nqueens_expected(n); },
                  contestants_for([&found, n, serial_rows]<class Policy>() {
                      found = kernels::nqueens<Policy>(kernels::nqueens_empty(n), serial_rows);
                  })};
    event.contestants[1].run = [&found, n] {
        found = kernels::nqueens_serial(kernels::nqueens_empty(n));
    };
    return hold_contest(event, options);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Counts the placements of n queens that do not attack each other.",
                      "nqueens"};
    common_options options;
    int n = 14;
    int serial_rows = 4;
    line.number("n", n, "queens, and rows and columns of the board", 1, kernels::k_nqueens_max);
    line.number("--serial-rows", serial_rows, "count the last so many rows without threads", 0,
                kernels::k_nqueens_max);
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return count(n, serial_rows, options) ? k_exit_ok : k_exit_check_failed;
    });
}

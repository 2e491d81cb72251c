// SPDX-License-Identifier: Apache-2.0
//
// Runs one piece of work with several libraries in turn (A B C A B C), checks each result, and
// prints the median times.
#pragma once

#include "program.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace examples {

enum class role { tulle, serial, peer };

struct contestant {
    std::string library;
    role kind;
    std::function<void()> run; // what is timed
};

// One figure of a program. Its ratio to the reference, Tulle's figure of the same kind, is printed
// unless that is 0.
struct figure {
    std::string library;
    role kind;
    double value;
    std::string unit;
    bool ok;
    double reference = 0;
};

struct contest {
    std::string program;
    std::string input;
    std::function<void()> prepare; // before each run, not timed
    std::function<bool()> check;   // after each run, not timed
    std::vector<contestant> contestants;
    std::vector<figure> known = {}; // figures that were taken already, printed last
};

// Runs the contest and prints it; true when every check was passed. Without options.peers only
// Tulle runs.
[[nodiscard]] bool hold_contest(contest const& event, common_options const& options);

// Prints the figures, as a table or as tab-separated values; true when all are ok.
bool print_figures(std::string const& program, std::string const& input,
                   std::vector<figure> const& figures, bool tsv, std::FILE* out = stdout);

// Seconds that run() takes.
[[nodiscard]] double seconds_of(std::function<void()> const& run);

} // namespace examples

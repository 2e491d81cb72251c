// SPDX-License-Identifier: Apache-2.0
// `tulle run --explore`: a program under one seed after the other, until one fails.
#pragma once

#include "process.hpp"

#include <chrono>
#include <cstdint>

namespace tulle::tool {

struct exploration {
    arguments words;     // the program and its arguments
    std::string options; // of `run`, as they were given, for the command that repeats a failure
    std::uint64_t first_seed = 1;
    std::uint64_t count = 1;
    std::chrono::seconds limit{60}; // for one run
};

// 0: no seed failed; 1: one did, and was reported; 126, 127: the program cannot be run.
[[nodiscard]] int explore(exploration const& wanted);

// As the shell reads it: in quotation marks where it must be.
[[nodiscard]] std::string quoted(std::string const& word);

} // namespace tulle::tool

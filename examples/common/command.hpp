// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs, in the C locale.
#pragma once

#include <string>
#include <vector>

namespace examples {

struct command_result {
    int exit_code;
    std::string output; // what it wrote to its standard output
};

// True when the program can be found in PATH.
[[nodiscard]] bool command_exists(std::string const& program);

// Runs words[0] with the other words as arguments and waits for it. Throws when it cannot be
// started or was killed.
[[nodiscard]] command_result run_command(std::vector<std::string> const& words);

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
// What options of the command line take. Each of these refuses a value with a sentence that says
// what is taken, and `--` as a value that has been forgotten.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tulle::tool {

// Digits without a sign.
[[nodiscard]] CLI::Validator number_from(std::uint64_t least, std::uint64_t most);

[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

// What the library takes for this option of its own.
[[nodiscard]] CLI::Validator value_of(std::string option);

// NAME=VALUE, of any of them.
[[nodiscard]] CLI::Validator assignment_of_option();

[[nodiscard]] CLI::Validator any_text();

} // namespace tulle::tool

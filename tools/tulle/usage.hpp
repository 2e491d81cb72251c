// SPDX-License-Identifier: Apache-2.0
// What is said of words on the command line that the program does not know.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace tulle::tool {

[[nodiscard]] std::string unknown_command(CLI::App const& program, std::string const& word);

// Of the first word that nothing has taken, after the words have been read; nothing: there is none.
[[nodiscard]] std::optional<std::string> unknown_word(CLI::App const& program);

} // namespace tulle::tool

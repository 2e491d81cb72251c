// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "command.hpp"

namespace tulle::tool {

std::string variable_name(std::string const& option) {
    std::string name = "TULLE_";
    for (char const c : option) name += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return name;
}

base::option_table read_options() {
    base::option_table table;
    if (auto const wrong = table.read_environment()) throw failure(k_exit_usage, *wrong);
    return table;
}

} // namespace tulle::tool

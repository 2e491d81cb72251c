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
    std::string wrong;
    for (base::refused_variable const& each : table.read_environment())
        wrong += (wrong.empty() ? "" : "\n") + each.error;
    if (!wrong.empty()) throw failure(k_exit_usage, wrong);
    return table;
}

} // namespace tulle::tool

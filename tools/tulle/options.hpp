// SPDX-License-Identifier: Apache-2.0
// The library's option table as the program handles it: read from the environment, and put back
// there for others.
#pragma once

#include <string>

#include "base/option.hpp"

namespace tulle::tool {

// "stack_size" -> "TULLE_STACK_SIZE".
[[nodiscard]] std::string variable_name(std::string const& option);

// The table with what the environment says; throws failure (usage) when that makes no sense.
[[nodiscard]] base::option_table read_options();

} // namespace tulle::tool

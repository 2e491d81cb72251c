// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that are no option, but nearly one.
#pragma once

#include <string>
#include <vector>

namespace tulle::base {

// A sentence for each of these "NAME=value", of which the last one is null, whose name begins as
// those of options do and differs from one by a letter or two. std::bad_alloc.
[[nodiscard]] std::vector<std::string> misspelt_options(char const* const* environment);

} // namespace tulle::base

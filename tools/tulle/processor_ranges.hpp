// SPDX-License-Identifier: Apache-2.0
// Numbers of processors as human-readable text.
#pragma once

#include <string>
#include <vector>

namespace tulle::tool {

// "0-3,8" for {0, 1, 2, 3, 8}.
[[nodiscard]] std::string ranges(std::vector<int> const& numbers);

} // namespace tulle::tool

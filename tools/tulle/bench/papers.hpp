// SPDX-License-Identifier: Apache-2.0
// The papers whose figures and tables can be measured here, and what else stands beside figures:
// bench/papers/NAME.json, which are a part of this program.
#pragma once

#include <string>
#include <vector>

namespace tulle::tool {

struct paper {
    std::string name;
    std::string sentence;
    std::vector<std::string> benchmarks; // those that measure what it has measured
    std::vector<std::string> shown_with; // benchmarks whose page begins with it, too
    std::string data;                    // the whole file, as JSON on one line
};

// In alphabetical order.
[[nodiscard]] std::vector<paper> const& papers();

// Those whose names are given, or benchmarks that they are shown with; all if there are no names.
[[nodiscard]] std::vector<paper> papers_among(std::vector<std::string> const& names);

} // namespace tulle::tool

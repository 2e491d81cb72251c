// SPDX-License-Identifier: Apache-2.0
// The papers whose figures and tables can be measured here: bench/papers/NAME.json, which are a
// part of this program.
#pragma once

#include <string>
#include <vector>

namespace tulle::tool {

struct paper {
    std::string name;
    std::string sentence;
    std::vector<std::string> benchmarks; // those that measure what it has measured
    std::string data;                    // the whole file, as JSON on one line
};

// In alphabetical order.
[[nodiscard]] std::vector<paper> const& papers();

// Those whose names are given, or all if there are no names.
[[nodiscard]] std::vector<paper> papers_among(std::vector<std::string> const& names);

} // namespace tulle::tool

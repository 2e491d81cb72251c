// SPDX-License-Identifier: Apache-2.0
// Line charts over the number of workers, as inline SVG: a line for each library. Colours come from the page's style sheet.
#pragma once

#include "bench_figure.hpp"

#include <string>

namespace tulle::tool {

// Of figures of one benchmark and unit. Empty when they are of less than two numbers of workers.
[[nodiscard]] std::string curves_of_values(std::vector<figure> const& figures);  // logarithmic where they span more than a factor of 20
[[nodiscard]] std::string curves_of_speedup(std::vector<figure> const& figures); // over the library's own value with the fewest workers

} // namespace tulle::tool

// SPDX-License-Identifier: Apache-2.0
// Line charts as inline SVG: a line for each library, or each curve that it has. Colours come from
// the page's style sheet.
#pragma once

#include "bench_figure.hpp"

#include <string>

namespace tulle::tool {

// Over the number of workers, of figures of one benchmark and unit. Empty when they are of less
// than two numbers of workers.
// Logarithmic where they span more than a factor of 20.
[[nodiscard]] std::string curves_of_values(std::vector<figure> const& figures);
// Over the library's own value with the fewest workers.
[[nodiscard]] std::string curves_of_speedup(std::vector<figure> const& figures);

// Over what the chart is over; scales are logarithmic where values span more than a factor of 20,
// or the axis one of 10. Empty: it has no two places on its axis.
[[nodiscard]] std::string curves_of_chart(figure_chart const& chart);
// How many times as fast as in `base`, the same chart with fewer workers. Empty: nothing of `chart`
// is in `base`, or as above.
[[nodiscard]] std::string speedup_of_chart(figure_chart const& base, figure_chart const& chart);

} // namespace tulle::tool

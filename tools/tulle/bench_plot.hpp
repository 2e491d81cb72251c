// SPDX-License-Identifier: Apache-2.0
// A horizontal bar chart of one figure group as inline SVG; colours come from the page's style
// sheet.
#pragma once

#include "bench_figure.hpp"

#include <string>

namespace tulle::tool {

[[nodiscard]] std::string escape_html(std::string const& text);
[[nodiscard]] std::string plot(figure_group const& g);

// About what it takes in the font of the page, in pixels; rather too much than too little.
[[nodiscard]] double text_width(std::string const& text);

} // namespace tulle::tool

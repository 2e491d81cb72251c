// SPDX-License-Identifier: Apache-2.0
// Human-readable figures: a text table for the terminal, and a page with plots.
#pragma once

#include "bench/catalog.hpp"
#include "bench/figure.hpp"
#include "bench/papers.hpp"

#include <iosfwd>

namespace tulle::tool {

void print_table(workload const& w, std::vector<figure> const& figures);

// What was counted below emulators: a row for each architecture and library, a column for each
// unit.
void print_counts(std::vector<figure> const& figures);

// One self-contained page, for light and dark surroundings: page.html with the figures in it,
// and what those papers have measured beside them. Needs nothing from elsewhere; its script draws
// the plots.
void write_page(std::ostream& out, std::vector<figure> const& figures,
                std::vector<std::string> const& notes, std::vector<paper> const& shown);

} // namespace tulle::tool

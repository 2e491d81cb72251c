// SPDX-License-Identifier: Apache-2.0
#include "bench_table.hpp"

#include <cstdio>

namespace tulle::tool {

namespace {

void print_row(figure_group const& g, figure const& f) {
    std::string const name = (is_ours(f.library) ? "* " : "  ") + f.library;
    if (!f.measured()) {
        std::printf("  %-18s %10s\n", name.c_str(), "failed");
        return;
    }
    double const ratio = g.ratio(f);
    std::printf("  %-18s %10s %10s %10s %10ld %8s%s\n", name.c_str(), short_number(f.value()).c_str(), short_number(f.min).c_str(),
                short_number(f.max).c_str(), f.n, ratio > 0 ? short_number(ratio).c_str() : "-", f.ok ? "" : "  WRONG RESULT");
}

} // namespace

void print_table(workload const& w, std::vector<figure> const& figures) {
    std::printf("\n%s: %s\n", std::string(w.name).c_str(), std::string(w.sentence).c_str());
    for (figure_group const& g : group(figures)) {
        std::string const title = g.unit + ", " + std::to_string(g.workers) + (g.workers == 1 ? " worker" : " workers");
        std::printf("  %-18s %10s %10s %10s %10s %8s\n", title.c_str(), "median", "min", "max", "n", "of best");
        for (figure const& f : g.rows) print_row(g, f);
    }
    std::fflush(stdout);
}

} // namespace tulle::tool

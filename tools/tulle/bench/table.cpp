// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"

#include <cstdio>

namespace tulle::tool {

namespace {

std::string or_dash(double value) { return value > 0 ? short_number(value) : "-"; }

// A last column, where there is one.
std::string column(std::string const& text) {
    return std::string(text.size() < 9 ? 9 - text.size() : 1, ' ') + text;
}

void print_row(figure_group const& g, figure const& f) {
    std::string const name = (is_ours(f.library) ? "* " : "  ") + f.library;
    if (!f.measured()) {
        std::printf("  %-18s %10s\n", name.c_str(), "failed");
        return;
    }
    double const ratio = g.ratio(f);
    std::string const limit = f.limit > 0 ? "  at most " + short_number(f.limit) : "";
    std::printf("  %-18s %10s %10s %10s %10ld %8s%s%s%s\n", name.c_str(),
                short_number(f.value()).c_str(), short_number(f.min).c_str(),
                short_number(f.max).c_str(), f.n, or_dash(ratio).c_str(),
                compares_backends(g.bench) ? column(or_dash(g.ratio_to_assembly(f))).c_str() : "",
                limit.c_str(), f.ok ? "" : "  WRONG RESULT");
}

// Of the rows of a group, the one of the same architecture and library; nullptr if it has none.
figure const* partner(figure_group const& g, figure const& f) {
    for (figure const& other : g.rows)
        if (other.architecture == f.architecture && other.library == f.library) return &other;
    return nullptr;
}

std::string without_per_switch(std::string const& unit) { return unit.substr(0, unit.find('/')); }

// The instructions come first, and have a ratio and perhaps a limit.
void print_counts_of(std::vector<figure_group> const& groups, figure const& f) {
    std::string const name = (is_ours(f.library) ? "* " : "  ") + f.library;
    std::printf("  %-12s %-18s", f.architecture.c_str(), name.c_str());
    for (figure_group const& g : groups) {
        figure const* const count = partner(g, f);
        std::printf(" %12s", count != nullptr ? short_number(count->value()).c_str() : "-");
        if (&g == &groups.front())
            std::printf("%s %8s", column(or_dash(g.ratio_to_assembly(f))).c_str(),
                        or_dash(f.limit).c_str());
    }
    std::printf("\n");
}

} // namespace

void print_table(workload const& w, std::vector<figure> const& figures) {
    std::printf("\n%s: %s\n", std::string(w.name).c_str(), std::string(w.sentence).c_str());
    for (figure_group const& g : group(figures)) {
        std::string const title = g.unit + ", " + count_text(g.workers, g.places, g.mpi) +
                                  (g.is_rate() ? ", higher is better" : "");
        std::printf("  %-18s %10s %10s %10s %10s %8s%s\n", title.c_str(), "median", "min", "max",
                    "n", "of best", compares_backends(g.bench) ? column("of asm").c_str() : "");
        for (figure const& f : g.rows) print_row(g, f);
    }
    std::fflush(stdout);
}

void print_counts(std::vector<figure> const& figures) {
    std::vector<figure_group> const groups = group(figures);
    if (groups.empty()) return;
    std::printf("\nswitch below emulators: counts per switch, no times\n  %-12s %-18s",
                "architecture", "");
    for (figure_group const& g : groups) {
        std::printf(" %12s", without_per_switch(g.unit).c_str());
        if (&g == &groups.front()) std::printf("%s %8s", column("of asm").c_str(), "limit");
    }
    std::printf("\n");
    for (figure const& f : groups.front().rows) print_counts_of(groups, f);
    std::fflush(stdout);
}

} // namespace tulle::tool

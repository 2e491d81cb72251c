// SPDX-License-Identifier: Apache-2.0
// One measured quantity of one library, as benchmark programs print it and `tulle bench --json`
// repeats it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tulle::tool {

struct figure {
    std::string bench{};
    std::string library{};
    int workers = 1;
    int places = 1;
    long n = 0;
    std::vector<double> values{}; // one per process that measured it; empty: nothing was measured
    double min = 0;
    double max = 0;
    std::string unit{};
    int runs = 0;
    bool ok = true;
    // Of the emulator below which this was counted; empty: measured on this machine.
    std::string architecture{};
    double limit = 0;    // what it must not exceed, where there is such a value
    std::string curve{}; // of those of one chart; may be empty
    std::string axis{};  // what the chart is over; empty: it is on no chart
    double at = 0;       // where on that axis
    // Over which its places were on several hosts; empty: they were on this one.
    std::string mpi{};

    [[nodiscard]] bool on_chart() const { return !axis.empty(); }
    [[nodiscard]] bool counted() const { return !architecture.empty(); }
    [[nodiscard]] double value() const; // the median; 0 when nothing was measured
    [[nodiscard]] bool measured() const { return !values.empty(); }
    // Whether the unit is something for each second, of which more is better; of all others less.
    [[nodiscard]] bool is_rate() const;
    [[nodiscard]] bool same_quantity(figure const& other) const;
    void merge(figure const& other); // more runs of the same quantity
};

// Reads the JSON lines that a program printed; lines that are no figure are skipped.
[[nodiscard]] std::vector<figure> parse_figures(std::string_view output);

// One JSON object on one line; `value`, `min` and `max` are null when nothing was measured.
// `architecture` is there for counted figures only, `mpi` for those over one, `limit` where there
// is one, `curve`, `axis` and `at` for what is on a chart.
[[nodiscard]] std::string to_json_line(figure const& f);

// Ours, a peer, or a floor: `serial`, `futex` and `memory` are what the machine does without any
// library.
[[nodiscard]] bool is_ours(std::string_view library);
[[nodiscard]] bool is_peer(std::string_view library);

// The library whose switch is in assembly, with which those over other switches are compared.
inline constexpr std::string_view k_assembly = "tulle";

// Rows of one table: the same bench, unit, number of workers and places, and MPI, best first;
// counted ones as they came.
struct figure_group {
    std::string bench{};
    std::string unit{};
    int workers = 1;
    int places = 1;
    std::string mpi{};
    std::vector<figure> rows{};

    [[nodiscard]] bool is_rate() const { return rows.front().is_rate(); }

    // What `row` is of the best peer's value; 0 where there is none to compare with, or `row` is of
    // another size.
    [[nodiscard]] double ratio(figure const& row) const;

    // What `row` is of our value with the switch in assembly, on the same architecture; 0 where
    // that is not compared.
    [[nodiscard]] double ratio_to_assembly(figure const& row) const;

    // Elapsed times compare only at the size that ours has; a value per thread or per call does
    // across sizes.
    [[nodiscard]] bool comparable(figure const& row) const;
};

[[nodiscard]] std::vector<figure_group> group(std::vector<figure> const& figures);

// "2 workers", or, where there are several places, "4 places", or "2 places over openmpi".
[[nodiscard]] std::string count_text(int workers, int places, std::string const& mpi);

// Three digits, no exponent where it can be helped.
[[nodiscard]] std::string short_number(double value);

} // namespace tulle::tool

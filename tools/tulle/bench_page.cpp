// SPDX-License-Identifier: Apache-2.0
#include "bench_curves.hpp"
#include "bench_plot.hpp"
#include "bench_table.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <ostream>

#include <sys/utsname.h>
#include <unistd.h>

#include <tulle/version.hpp>

namespace tulle::tool {

namespace {

constexpr char const* k_style = R"(
:root { color-scheme: light dark; --ground: #fdfdfc; --text: #1c1e21; --quiet: #63686e;
  --line: #e3e4e6; --ours: #0a7c8c; --peer: #a9b1ba; --floor: #d5d9dd; --spread: #33383e;
  --second: #b9531a; --third: #7d4fa8; --fourth: #7a7f1c; --fifth: #1f5fbf; --sixth: #b0246b;
  --seventh: #3c7a34; --eighth: #6b5b4b; }
@media (prefers-color-scheme: dark) { :root { --ground: #15181b; --text: #e8eaec;
  --quiet: #9aa1a8; --line: #2d3237; --ours: #3fc1d0; --peer: #69727c; --floor: #424950;
  --spread: #d4d8dc; --second: #f0935a; --third: #b794e0; --fourth: #c3c85a; --fifth: #7fb0ff;
  --sixth: #f07fb4; --seventh: #86cf7c; --eighth: #c9b8a4; } }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .3rem; font-weight: 600; }
p { margin: .2rem 0; }
.hint, .about, figcaption { color: var(--quiet); font-size: .85rem; }
figure { margin: 0; }
svg { width: 100%; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); } svg .tick, svg .floor.name { fill: var(--quiet); }
svg text.ours { font-weight: 700; }
rect.ours { fill: var(--ours); } rect.peer { fill: var(--peer); } rect.floor { fill: var(--floor); }
.line { fill: none; stroke-width: 2; } .curve circle { stroke: none; }
.curve0 { stroke: var(--ours); fill: var(--ours); }
.curve1 { stroke: var(--second); fill: var(--second); }
.curve2 { stroke: var(--third); fill: var(--third); }
.curve3 { stroke: var(--fourth); fill: var(--fourth); }
.curve4 { stroke: var(--fifth); fill: var(--fifth); }
.curve5 { stroke: var(--sixth); fill: var(--sixth); }
.curve6 { stroke: var(--seventh); fill: var(--seventh); }
.curve7 { stroke: var(--eighth); fill: var(--eighth); }
.curve text { stroke: none; fill: inherit; }
.dash1 .line { stroke-dasharray: 8 4; } .dash2 .line { stroke-dasharray: 2 3; }
.dash3 .line { stroke-dasharray: 8 3 2 3; }
.ideal { stroke: var(--quiet); stroke-dasharray: 4 4; }
.grid { stroke: var(--line); } .spread { stroke: var(--spread); fill: none; }
summary { cursor: pointer; color: var(--quiet); font-size: .85rem; margin-top: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
)";

std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown processor";
}

std::string machine_line() {
    utsname system{};
    uname(&system);
    return processor_name() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, " +
           system.sysname + ' ' + system.release + ' ' + system.machine;
}

std::string today() {
    std::time_t const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

void write_head(std::ostream& out) {
    out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        << "<meta name=\"viewport\" content=\"width=device-width, "
           "initial-scale=1\"/>\n<title>Tulle "
           "benchmarks</title>\n"
        << "<style>" << k_style
        << "</style>\n</head>\n<body>\n<h1>Tulle benchmarks</h1>\n<p class=\"about\">tulle "
        << tulle::version() << ", " << today() << "<br/>" << escape_html(machine_line()) << "</p>\n"
        << "<p class=\"about\">Lower is better. A bar is the median of the runs, the line across "
           "it goes from the "
           "least "
           "to the greatest. <em>Of best</em> is the ratio to the best peer; serial, futex and "
           "memory are floors, not peers.</p>\n";
}

void write_rows(std::ostream& out, figure_group const& g) {
    bool const compares = compares_backends(g.bench);
    out << "<details><summary>Numbers</summary><div "
           "class=\"wide\"><table>\n<tr><th>library</th><th>median</th><th>min</th>"
           "<th>max</th><th>n</th><th>runs</th><th>of best</th>"
        << (compares ? "<th>of asm</th>" : "") << "</tr>\n";
    for (figure const& f : g.rows) {
        double const ratio = g.ratio(f);
        double const of_assembly = g.ratio_to_assembly(f);
        out << "<tr><td>" << escape_html(f.counted() ? f.architecture + ' ' + f.library : f.library)
            << (f.ok ? "" : " (failed)") << "</td><td>" << short_number(f.value()) << "</td><td>"
            << short_number(f.min) << "</td><td>" << short_number(f.max) << "</td><td>" << f.n
            << "</td><td>" << f.runs << "</td><td>" << (ratio > 0 ? short_number(ratio) : "")
            << "</td>" << (compares ? "<td>" : "")
            << (of_assembly > 0 ? short_number(of_assembly) : "") << (compares ? "</td>" : "")
            << "</tr>\n";
    }
    out << "</table></div></details>\n";
}

std::string title_of(figure_group const& g) {
    if (g.rows.front().counted()) return g.unit + ", counted below emulators";
    return (g.unit.empty() ? "failed" : g.unit) + ", " + count_text(g.workers, g.places, g.mpi);
}

void write_group(std::ostream& out, figure_group const& g) {
    out << "<figure><h3>" << escape_html(title_of(g)) << "</h3>\n" << plot(g) << "\n";
    if (g.rows.front().limit > 0)
        out << "<p class=\"hint\">The line across a row is the most that it may take.</p>\n";
    write_rows(out, g);
    out << "</figure>\n";
}

// Elapsed times of the backends over the number of workers.
void write_curves(std::ostream& out, std::string_view bench, std::vector<figure> const& figures) {
    if (!compares_backends(bench)) return;
    std::vector<figure> elapsed;
    for (figure const& f : figures)
        if (f.bench == bench && f.unit == "s" && f.measured()) elapsed.push_back(f);
    std::string const values = curves_of_values(elapsed);
    if (values.empty()) return;
    out << "<figure><h3>s by the number of workers</h3>\n" << values << "</figure>\n";
    out << "<figure><h3>speed-up by the number of workers; higher is better, the dashed line is "
           "perfect</h3>\n"
        << curves_of_speedup(elapsed) << "</figure>\n";
}

void write_points(std::ostream& out, figure_chart const& chart) {
    out << "<details><summary>Numbers</summary><div "
           "class=\"wide\"><table>\n<tr><th>library</th><th>"
        << escape_html(chart.axis)
        << "</th><th>median</th><th>min</th><th>max</th><th>n</th><th>runs</th></tr>\n";
    for (figure const& f : chart.points)
        out << "<tr><td>" << escape_html(f.library + ' ' + f.curve) << (f.ok ? "" : " (failed)")
            << "</td><td>" << count_number(f.at) << "</td><td>" << short_number(f.value())
            << "</td><td>" << short_number(f.min) << "</td><td>" << short_number(f.max)
            << "</td><td>" << f.n << "</td><td>" << f.runs << "</td></tr>\n";
    out << "</table></div></details>\n";
}

void write_chart(std::ostream& out, figure_chart const& chart) {
    std::string const lines = curves_of_chart(chart);
    out << "<figure><h3>" << escape_html(chart.unit + " by the number of " + chart.axis) << ", "
        << count_text(chart.workers, chart.places, chart.mpi) << "</h3>\n"
        << lines;
    write_points(out, chart);
    out << "</figure>\n";
}

// Beside the same chart with the fewest workers, if this is another one.
void write_speedup(std::ostream& out, std::vector<figure_chart> const& charts,
                   figure_chart const& chart) {
    figure_chart const* base = &chart;
    for (figure_chart const& c : charts)
        if (c.bench == chart.bench && c.unit == chart.unit && c.axis == chart.axis &&
            c.places == chart.places && c.mpi == chart.mpi && c.workers < base->workers)
            base = &c;
    std::string const lines = base != &chart ? speedup_of_chart(*base, chart) : "";
    if (lines.empty()) return;
    out << "<figure><h3>speed-up by the number of " << escape_html(chart.axis) << ", "
        << count_text(chart.workers, chart.places, chart.mpi) << " over "
        << count_text(base->workers, base->places, base->mpi) << "; higher is better</h3>\n"
        << lines << "</figure>\n";
}

void write_charts(std::ostream& out, std::string_view bench,
                  std::vector<figure_chart> const& charts) {
    for (figure_chart const& chart : charts) {
        if (chart.bench != bench) continue;
        write_chart(out, chart);
        write_speedup(out, charts, chart);
    }
}

void write_title(std::ostream& out, workload const& w) {
    out << "<h2>" << w.name << "</h2>\n<p class=\"about\">" << w.sentence << "</p>\n";
}

} // namespace

void write_page(std::ostream& out, std::vector<figure> const& figures,
                std::vector<std::string> const& notes) {
    write_head(out);
    std::vector<figure_group> const groups = group(figures);
    std::vector<figure_chart> const charts = charts_in(figures);
    for (workload const& w : workloads()) {
        auto const is_its = [&w](auto const& one) { return one.bench == w.name; };
        if (std::none_of(groups.begin(), groups.end(), is_its)) continue;
        write_title(out, w);
        for (figure_group const& g : groups)
            if (is_its(g) && !g.rows.front().on_chart()) write_group(out, g);
        write_charts(out, w.name, charts);
        write_curves(out, w.name, figures);
    }
    for (std::string const& note : notes)
        out << "<p class=\"about\">" << escape_html(note) << "</p>\n";
    out << "</body>\n</html>\n";
}

} // namespace tulle::tool

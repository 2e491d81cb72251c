// SPDX-License-Identifier: Apache-2.0
#include "bench_plot.hpp"
#include "bench_table.hpp"

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
:root { color-scheme: light dark; --ground: #fdfdfc; --text: #1c1e21; --quiet: #63686e; --line: #e3e4e6;
  --ours: #0a7c8c; --peer: #a9b1ba; --floor: #d5d9dd; --spread: #33383e; }
@media (prefers-color-scheme: dark) { :root { --ground: #15181b; --text: #e8eaec; --quiet: #9aa1a8; --line: #2d3237;
  --ours: #3fc1d0; --peer: #69727c; --floor: #424950; --spread: #d4d8dc; } }
body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif; max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; }
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
        if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
    return "unknown processor";
}

std::string machine_line() {
    utsname system{};
    uname(&system);
    return processor_name() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, " + system.sysname + ' ' + system.release +
           ' ' + system.machine;
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
        << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>Tulle "
           "benchmarks</title>\n"
        << "<style>" << k_style << "</style>\n</head>\n<body>\n<h1>Tulle benchmarks</h1>\n<p class=\"about\">tulle " << tulle::version()
        << ", " << today() << "<br/>" << escape_html(machine_line()) << "</p>\n"
        << "<p class=\"about\">Lower is better. A bar is the median of the runs, the line across it goes from the "
           "least "
           "to the greatest. <em>Of best</em> is the ratio to the best peer; serial and futex are floors, not "
           "peers.</p>\n";
}

void write_rows(std::ostream& out, figure_group const& g) {
    out << "<details><summary>Numbers</summary><div "
           "class=\"wide\"><table>\n<tr><th>library</th><th>median</th><th>min</th>"
           "<th>max</th><th>n</th><th>runs</th><th>of best</th></tr>\n";
    for (figure const& f : g.rows) {
        double const ratio = g.ratio(f);
        out << "<tr><td>" << escape_html(f.library) << (f.ok ? "" : " (failed)") << "</td><td>" << short_number(f.value()) << "</td><td>"
            << short_number(f.min) << "</td><td>" << short_number(f.max) << "</td><td>" << f.n << "</td><td>" << f.runs << "</td><td>"
            << (ratio > 0 ? short_number(ratio) : "") << "</td></tr>\n";
    }
    out << "</table></div></details>\n";
}

void write_group(std::ostream& out, figure_group const& g) {
    out << "<figure><h3>" << escape_html(g.unit.empty() ? "failed" : g.unit) << ", " << g.workers
        << (g.workers == 1 ? " worker" : " workers") << "</h3>\n"
        << plot(g) << "\n";
    write_rows(out, g);
    out << "</figure>\n";
}

} // namespace

void write_page(std::ostream& out, std::vector<figure> const& figures, std::vector<std::string> const& notes) {
    write_head(out);
    std::vector<figure_group> const groups = group(figures);
    for (workload const& w : workloads()) {
        bool titled = false;
        for (figure_group const& g : groups) {
            if (g.bench != w.name) continue;
            if (!titled) out << "<h2>" << w.name << "</h2>\n<p class=\"about\">" << w.sentence << "</p>\n";
            titled = true;
            write_group(out, g);
        }
    }
    for (std::string const& note : notes) out << "<p class=\"about\">" << escape_html(note) << "</p>\n";
    out << "</body>\n</html>\n";
}

} // namespace tulle::tool

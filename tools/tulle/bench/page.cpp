// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"
#include "bench_page_template.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <ostream>

#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <tulle/version.hpp>

namespace tulle::tool {

namespace {

using json = nlohmann::ordered_json;

// Stands in the template where the figures go.
constexpr std::string_view k_figures = "{{figures}}";
static_assert(k_page_template.find(k_figures) != std::string_view::npos);

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

// Between backends, the assembly stands out from what it is compared with.
char const* kind_of(figure const& f) {
    if (compares_backends(f.bench) ? f.library == k_assembly : is_ours(f.library)) return "ours";
    return is_ours(f.library) || is_peer(f.library) ? "peer" : "floor";
}

// What `tulle bench --json` has of the figure, and what the page says of it besides.
json row_of(figure_group const& g, figure const& f) {
    json row = json::parse(to_json_line(f));
    row["kind"] = kind_of(f);
    row["on"] = count_text(f.workers, f.places, f.mpi);
    row["is_comparable"] = g.comparable(f);
    row["is_rate"] = f.is_rate();
    if (double const ratio = g.ratio(f); ratio > 0) row["of_best"] = ratio;
    if (double const ratio = g.ratio_to_assembly(f); ratio > 0) row["of_assembly"] = ratio;
    return row;
}

json workloads_in(std::vector<figure_group> const& groups) {
    json all = json::array();
    for (workload const& w : workloads())
        if (std::any_of(groups.begin(), groups.end(),
                        [&w](figure_group const& g) { return g.bench == w.name; }))
            all.push_back({{"name", w.name}, {"sentence", w.sentence}, {"compares", w.backends}});
    return all;
}

json data_of(std::vector<paper> const& shown) {
    json all = json::array();
    for (paper const& p : shown) all.push_back(json::parse(p.data));
    return all;
}

// A line of the script that holds the figures. Nothing in it ends the script, and names of programs
// may be any bytes.
void write_line(std::ostream& out, json const& value) {
    for (char const c : value.dump(-1, ' ', false, json::error_handler_t::replace))
        if (c == '<')
            out << "\\u003c";
        else
            out << c;
    out << '\n';
}

} // namespace

void write_page(std::ostream& out, std::vector<figure> const& figures,
                std::vector<std::string> const& notes, std::vector<paper> const& shown) {
    std::vector<figure_group> const groups = group(figures);
    std::size_t const figures_at = k_page_template.find(k_figures);
    out << k_page_template.substr(0, figures_at);
    write_line(out, {{"version", tulle::version()},
                     {"date", today()},
                     {"machine", machine_line()},
                     {"assembly", k_assembly},
                     {"notes", notes},
                     {"papers", data_of(shown)},
                     {"workloads", workloads_in(groups)}});
    for (figure_group const& g : groups)
        for (figure const& f : g.rows) write_line(out, row_of(g, f));
    out << k_page_template.substr(figures_at + k_figures.size());
}

} // namespace tulle::tool

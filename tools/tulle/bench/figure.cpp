// SPDX-License-Identifier: Apache-2.0
#include "bench/figure.hpp"

#include "bench/catalog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include <nlohmann/json.hpp>

namespace tulle::tool {

namespace {

using json = nlohmann::ordered_json;

figure from_json(json const& line) {
    figure f;
    f.bench = line.at("bench");
    f.library = line.at("library");
    f.workers = line.at("workers");
    f.places = line.at("places");
    f.n = line.at("n");
    f.values = {line.at("value").get<double>()};
    f.min = line.at("min");
    f.max = line.at("max");
    f.unit = line.at("unit");
    f.runs = line.at("runs");
    f.ok = line.at("ok");
    f.architecture = line.value("architecture", "");
    f.limit = line.value("limit", 0.0);
    f.curve = line.value("curve", "");
    f.axis = line.value("axis", "");
    f.at = line.value("at", 0.0);
    return f;
}

bool better_value(figure const& f, double other) {
    return f.is_rate() ? f.value() > other : f.value() < other;
}

bool better(figure const& a, figure const& b) {
    if (a.measured() != b.measured()) return a.measured();
    return better_value(a, b.value());
}

} // namespace

double figure::value() const {
    if (values.empty()) return 0;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::size_t const half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

bool figure::is_rate() const { return unit.substr(0, unit.find_first_of(" ,")).ends_with("/s"); }

bool figure::same_quantity(figure const& other) const {
    return bench == other.bench && library == other.library && workers == other.workers &&
           places == other.places && unit == other.unit && architecture == other.architecture &&
           mpi == other.mpi && curve == other.curve && at == other.at;
}

void figure::merge(figure const& other) {
    min = measured() ? std::min(min, other.min) : other.min;
    max = measured() ? std::max(max, other.max) : other.max;
    n = other.n;
    values.insert(values.end(), other.values.begin(), other.values.end());
    runs += other.runs;
    ok = ok && other.ok;
}

std::vector<figure> parse_figures(std::string_view output) {
    std::vector<figure> figures;
    std::istringstream lines{std::string(output)};
    for (std::string line; std::getline(lines, line);) {
        json const object = json::parse(line, nullptr, false);
        if (!object.is_object()) continue;
        try {
            figures.push_back(from_json(object));
        } catch (json::exception const&) {
            continue;
        }
    }
    return figures;
}

std::string to_json_line(figure const& f) {
    auto const number = [&f](double value) { return f.measured() ? json(value) : json(nullptr); };
    json line = {{"bench", f.bench},
                 {"library", f.library},
                 {"workers", f.workers},
                 {"places", f.places},
                 {"n", f.n},
                 {"value", number(f.value())},
                 {"min", number(f.min)},
                 {"max", number(f.max)},
                 {"unit", f.unit},
                 {"runs", f.runs},
                 {"ok", f.ok}};
    if (f.counted()) line["architecture"] = f.architecture;
    if (!f.mpi.empty()) line["mpi"] = f.mpi;
    if (f.limit > 0) line["limit"] = f.limit;
    if (f.on_chart()) line.update({{"curve", f.curve}, {"axis", f.axis}, {"at", f.at}});
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Programs with checks of accesses are ours but for those that have none, which they are compared
// with.
bool is_ours(std::string_view library) {
    return library.starts_with("tulle") ||
           (library.starts_with("checked") && library != "checked_none");
}

bool is_peer(std::string_view library) {
    return !is_ours(library) && library != "serial" && library != "serial_inlined" &&
           library != "serial_stable" && library != "futex" && library != "memory";
}

bool figure_group::comparable(figure const& row) const {
    if (unit != "s") return true;
    auto const ours =
        std::find_if(rows.begin(), rows.end(), [](figure const& f) { return is_ours(f.library); });
    return row.n == (ours != rows.end() ? *ours : rows.front()).n;
}

double figure_group::ratio(figure const& row) const {
    double best = 0;
    for (figure const& peer : rows) {
        bool const counts = is_peer(peer.library) && peer.ok && peer.measured() && comparable(peer);
        if (counts && (best == 0 || better_value(peer, best))) best = peer.value();
    }
    return best > 0 && comparable(row) && row.measured() && row.value() > 0 ? row.value() / best
                                                                            : 0;
}

double figure_group::ratio_to_assembly(figure const& row) const {
    if (!compares_backends(bench)) return 0;
    auto const assembly = std::find_if(rows.begin(), rows.end(), [&row](figure const& f) {
        return f.library == k_assembly && f.architecture == row.architecture;
    });
    bool const compares =
        assembly != rows.end() && assembly->value() > 0 && row.measured() && comparable(row);
    return compares ? row.value() / assembly->value() : 0;
}

std::vector<figure_group> group(std::vector<figure> const& figures) {
    std::vector<figure_group> groups;
    for (figure const& f : figures) {
        auto const found = std::find_if(groups.begin(), groups.end(), [&f](figure_group const& g) {
            return g.bench == f.bench && g.unit == f.unit && g.workers == f.workers &&
                   g.places == f.places && g.mpi == f.mpi;
        });
        if (found != groups.end())
            found->rows.push_back(f);
        else
            groups.push_back({f.bench, f.unit, f.workers, f.places, f.mpi, {f}});
    }
    for (figure_group& g : groups)
        if (!g.rows.front().counted()) std::stable_sort(g.rows.begin(), g.rows.end(), better);
    return groups;
}

std::string count_text(int workers, int places, std::string const& mpi) {
    if (!mpi.empty())
        return std::to_string(places) + (places == 1 ? " place over " : " places over ") + mpi;
    if (places > 1) return std::to_string(places) + " places";
    return std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

std::string short_number(double value) {
    char text[32];
    double const size = std::fabs(value);
    char const* const format = size >= 100  ? "%.0f"
                               : size >= 10 ? "%.1f"
                               : size >= 1  ? "%.2f"
                                            : "%.3g";
    std::snprintf(text, sizeof text, format, value);
    return text;
}

} // namespace tulle::tool

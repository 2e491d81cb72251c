// SPDX-License-Identifier: Apache-2.0
// `tulle cpus`: which programs share the processors of this machine, and which has which.
#include "command.hpp"
#include "process.hpp"
#include "processor_ranges.hpp"

#include <cstdio>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cpus/registry.hpp"

namespace tulle::tool {

namespace {

using json = nlohmann::ordered_json;

std::vector<cpus::registry::row> rows_of_registry() {
    cpus::registry registry(cpus::registry::default_path());
    auto rows = registry.list();
    if (!rows) throw failure(k_exit_failed, "cpus: " + registry.why());
    return std::move(*rows);
}

json row_json(cpus::registry::row const& row) {
    cpus::program const& p = row.as_divided;
    return {{"pid", row.process},
            {"cpus", p.has},
            {"may_use", p.may},
            {"least", p.least},
            {"most", p.most},
            {"weight", p.weight},
            {"command", command_line(row.process)}};
}

void print_rows(std::vector<cpus::registry::row> const& rows) {
    if (rows.empty())
        std::fputs("tulle: cpus: there is no program that shares the processors\n", stderr);
    else
        std::printf("%8s  %-14s %6s %6s %6s  %s\n", "pid", "processors", "least", "most", "weight",
                    "command");
    for (cpus::registry::row const& row : rows) {
        cpus::program const& p = row.as_divided;
        std::printf("%8d  %-14s %6d %6d %6d  %s\n", row.process, ranges(p.has).c_str(), p.least,
                    p.most, p.weight, command_line(row.process).c_str());
    }
}

int show_shares(bool as_json) {
    auto const rows = rows_of_registry();
    if (!as_json) {
        print_rows(rows);
        return 0;
    }
    json all = json::array();
    for (cpus::registry::row const& row : rows) all.push_back(row_json(row));
    std::cout << all.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    return 0;
}

} // namespace

command add_cpus(CLI::App& program) {
    auto const as_json = std::make_shared<bool>(false);
    CLI::App* const app = program.add_subcommand(
        "cpus", "Show the programs that share the processors of this machine, and which each has");
    app->add_flag("--json", *as_json, "Print one JSON array");
    return {app, [as_json] { return show_shares(*as_json); }};
}

} // namespace tulle::tool

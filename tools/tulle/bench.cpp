// SPDX-License-Identifier: Apache-2.0
// `tulle bench`: measures the library beside its peers on this machine.
#include "bench_runner.hpp"
#include "bench_table.hpp"
#include "command.hpp"

#include <cstdio>
#include <fstream>
#include <memory>

#include <CLI/CLI.hpp>

namespace tulle::tool {

namespace {

struct bench_request {
    bench_settings settings{};
    bool list = false;
    bool json = false;
    std::string page{};
};

int list_workloads() {
    for (workload const& w : workloads()) std::printf("%-16s %s\n", std::string(w.name).c_str(), std::string(w.sentence).c_str());
    return 0;
}

void print_json(workload const&, std::vector<figure> const& figures) {
    for (figure const& f : figures) std::printf("%s\n", to_json_line(f).c_str());
    std::fflush(stdout);
}

void print_legend(bench_result const& result) {
    std::printf("\n* Tulle. Lower is better. \"of best\": the ratio to the best peer's median; serial and futex are "
                "floors, not peers.\n");
    for (std::string const& note : result.notes) std::printf("%s\n", note.c_str());
}

// Opened before anything is measured, so that a wrong path costs no time.
std::ofstream open_page(std::string const& path) {
    std::ofstream page;
    if (path.empty()) return page;
    page.open(path);
    if (!page) throw failure(k_exit_usage, "bench: cannot write " + path);
    return page;
}

int bench(bench_request const& request) {
    if (request.list) return list_workloads();
    std::ofstream page = open_page(request.page);
    bench_result const result = run_benches(request.settings, request.json ? print_json : print_table);
    if (!request.json) print_legend(result);
    if (page.is_open()) {
        write_page(page, result.figures, result.notes);
        if (!page.flush()) throw failure(k_exit_failed, "bench: cannot write " + request.page);
    }
    return result.ok ? 0 : k_exit_failed;
}

void declare(CLI::App& app, bench_request& request) {
    bench_settings& s = request.settings;
    s.folder = default_bench_folder();
    app.add_option("NAME", s.names, "Benchmarks to run; all if none is named");
    app.add_flag("--list", request.list, "List the benchmarks and exit");
    app.add_flag("--quick", s.quick, "Small sizes: all in under a minute, figures less exact");
    app.add_flag("--json", request.json, "Print a JSON object per figure, one a line");
    app.add_option("--html", request.page, "Write a page with plots as well")->type_name("FILE");
    app.add_option("--runs", s.runs, "Runs of each program (5)")->type_name("K")->check(CLI::Range(1, 1000));
    app.add_option("--workers", s.workers, "This many workers instead of the benchmark's own choice")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    app.add_flag("--peers,!--no-peers", s.peers, "Measure the peers as well (default)");
    app.add_option("--dir", s.folder, "Where the benchmark programs are")->type_name("DIR");
}

} // namespace

command add_bench(CLI::App& program) {
    auto const request = std::make_shared<bench_request>();
    CLI::App* const app = program.add_subcommand("bench", "Measure the library beside its peers");
    declare(*app, *request);
    return {app, [request] { return bench(*request); }};
}

} // namespace tulle::tool

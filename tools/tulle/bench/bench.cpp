// SPDX-License-Identifier: Apache-2.0
// `tulle bench`: measures the library beside its peers, on this machine or, what is over places, on
// several hosts.
#include "bench/emulated.hpp"
#include "bench/runner.hpp"
#include "bench/splash.hpp"
#include "bench/splash_programs.hpp"
#include "bench/table.hpp"
#include "command.hpp"
#include "values.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>

namespace tulle::tool {

namespace {

struct bench_request {
    bench_settings settings{};
    bool list = false;
    bool json = false;
    std::string page{};
    std::vector<std::string> papers{};
    std::vector<std::string> architectures{};
    CLI::Option* emulated = nullptr;
    bench_hosts on{};
    CLI::Option* hosts = nullptr;
};

int list_workloads() {
    for (workload const& w : workloads())
        std::printf("%-16s %s\n", std::string(w.name).c_str(), std::string(w.sentence).c_str());
    for (workload_set const& set : workload_sets())
        std::printf("%-16s %s\n", std::string(set.name).c_str(), std::string(set.sentence).c_str());
    return 0;
}

void print_json_lines(std::vector<figure> const& figures) {
    for (figure const& f : figures) std::printf("%s\n", to_json_line(f).c_str());
    std::fflush(stdout);
}

void print_json(workload const&, std::vector<figure> const& figures) { print_json_lines(figures); }

void print_legend(bench_result const& result) {
    bool const compares = std::any_of(result.figures.begin(), result.figures.end(),
                                      [](figure const& f) { return compares_backends(f.bench); });
    bool const has_rates = std::any_of(result.figures.begin(), result.figures.end(),
                                       [](figure const& f) { return f.is_rate(); });
    std::printf("\n* Tulle. Lower is better%s. \"of best\": the ratio to the best peer's median; "
                "serial, futex and memory are floors, not peers.%s\n",
                has_rates ? ", but for rates (/s), of which more is" : "",
                compares ? " \"of asm\": to tulle's, whose switch is in assembly." : "");
    for (std::string const& note : result.notes) std::printf("%s\n", note.c_str());
}

// Opened before anything is measured, so that a wrong path costs no time. A page that is there is
// kept until there is another one.
std::ofstream open_page(std::string const& path) {
    std::ofstream page;
    if (path.empty()) return page;
    page.open(path, std::ios::app);
    if (!page) throw failure(k_exit_usage, "bench: cannot write " + path);
    return page;
}

void empty_page(std::string const& path) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) std::filesystem::resize_file(path, 0, error);
    if (error) throw failure(k_exit_failed, "bench: cannot write " + path);
}

// Those that are named, by whichever option.
std::vector<paper> shown_papers(bench_request const& request) {
    std::vector<std::string> names = request.settings.names;
    names.insert(names.end(), request.papers.begin(), request.papers.end());
    return papers_among(names);
}

// What is wrong with the name, or nothing. The papers are read here, and not where options are
// declared: that is done for each command of this program, and they are most of what it would read.
std::string check_paper(std::string given) {
    std::vector<std::string> names;
    for (paper const& p : papers()) names.push_back(p.name);
    return one_of(names)(given);
}

// Looked for before anything is measured, too.
std::optional<emulated_plan> plan_counts(bench_request const& request) {
    if (request.emulated->count() == 0) return std::nullopt;
    std::vector<workload const*> const chosen = workloads_named(request.settings.names);
    if (std::none_of(chosen.begin(), chosen.end(),
                     [](workload const* w) { return w->name == "switch"; }))
        throw failure(k_exit_usage,
                      "bench: --emulated is for the benchmark `switch`, or `paper`, which has it");
    std::vector<std::string> wanted = request.architectures;
    std::erase(wanted, ""); // what CLI11 has for the option without a name
    return plan_emulated(request.settings.folder, wanted);
}

void check_sources(bench_settings const& settings) {
    auto const& names = settings.names;
    bool const is_all = !names.empty() && std::all_of(names.begin(), names.end(), is_from_sources);
    if (is_all && settings.sources.empty())
        throw failure(k_exit_usage, "bench: " + names.front() + ' ' + needed_sources());
}

std::vector<std::string> names_of_splash_programs() {
    std::vector<std::string> names;
    for (splash_program const& p : splash_programs()) names.push_back(p.name);
    return names;
}

int bench(bench_request& request) {
    if (request.list) return list_workloads();
    std::optional<emulated_plan> const plan = plan_counts(request);
    if (request.settings.names.empty() &&
        (request.settings.size != 0 || !request.settings.places.empty()))
        throw failure(k_exit_usage, "bench: --n and --places are for benchmarks that are named");
    check_sources(request.settings);
    static_cast<void>(workloads_named(request.settings.names)); // which refuses what is none
    request.on.places = request.settings.places;
    if (request.hosts->count() != 0) request.settings.hosts = request.on;
    std::ofstream page = open_page(request.page);
    bench_result result = run_benches(request.settings, request.json ? print_json : print_table);
    if (plan) (request.json ? print_json_lines : print_counts)(count_emulated(*plan, result));
    if (!request.json) print_legend(result);
    if (page.is_open()) {
        empty_page(request.page);
        write_page(page, result.figures, result.notes, shown_papers(request));
        if (!page.flush()) throw failure(k_exit_failed, "bench: cannot write " + request.page);
    }
    return result.ok ? 0 : k_exit_failed;
}

void declare(CLI::App& app, bench_request& request) {
    bench_settings& s = request.settings;
    s.folder = default_bench_folder();
    app.add_option("NAME", s.names, "Benchmarks to run, or sets of them; all if none is named");
    app.add_flag("--list", request.list, "List the benchmarks and exit");
    app.add_flag("--quick", s.quick, "Small sizes: all in under a minute, figures less exact");
    app.add_flag("--json", request.json, "Print a JSON object per figure, one a line");
    app.add_option("--html", request.page, "Write a page with plots as well")
        ->type_name("FILE")
        ->check(any_text());
    app.add_option("--paper", request.papers,
                   "The page begins with what this paper has measured, beside the benchmarks that "
                   "are named")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(check_paper, "");
    app.add_option("--runs", s.runs, "Runs of each program (5)")
        ->type_name("K")
        ->check(number_from(1, 1000));
    app.add_option("--workers", s.workers,
                   "These numbers of workers instead of the benchmark's own choice")
        ->type_name("N,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(number_from(1, 4096));
    app.add_option("--places", s.places,
                   "These numbers of places instead of the benchmark's own choice; for benchmarks "
                   "over places")
        ->type_name("P,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(number_from(1, 1024));
    app.add_option("--n", s.size,
                   "The size of the benchmarks that are named, instead of their own: what its "
                   "source calls n")
        ->type_name("SIZE")
        ->check(number_from(1, 1'000'000'000'000));
    CLI::Option* const sources =
        app.add_option(
               "--sources", s.sources,
               "For `splash` and `splash-checks`: where the sources of SPLASH-2 or SPLASH-3 are")
            ->type_name("DIR")
            ->check(any_text());
    app.add_option("--programs", s.programs, "With --sources: of its programs these only")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(one_of(names_of_splash_programs()))
        ->needs(sources);
    app.add_option("--unit", s.unit,
                   "With --sources: bytes of copies that are brought at once, for all programs, "
                   "instead of what suits each")
        ->type_name("BYTES")
        ->check(one_of({"64", "128", "256", "512", "1024", "2048", "4096"}))
        ->needs(sources);
    request.emulated = app.add_option("--emulated", request.architectures,
                                      "Count the switch below emulators of other architectures as "
                                      "well: all, or those named")
                           ->type_name("[ARCH ...]")
                           ->expected(0, 64)
                           ->delimiter(',');
    request.hosts = app.add_option("--hosts", request.on.list,
                                   "Benchmarks over places with these on the hosts, over each MPI "
                                   "that is there, as `tulle run --hosts` starts them")
                        ->type_name("A,B:2,...")
                        ->check(any_text());
    app.add_option("--mpi", request.on.mpi, "With --hosts: over this MPI only: openmpi, mpich")
        ->type_name("MPI")
        ->check(one_of({"openmpi", "mpich"}))
        ->needs(request.hosts);
    app.add_option("--processor-times", s.processor_times)->group(""); // for tests
    app.add_flag("--peers,!--no-peers", s.peers, "Measure the peers as well (default)");
    app.add_option("--dir", s.folder, "Where the benchmark programs are")
        ->type_name("DIR")
        ->check(any_text());
}

} // namespace

command add_bench(CLI::App& program) {
    auto const request = std::make_shared<bench_request>();
    CLI::App* const app = program.add_subcommand("bench", "Measure the library beside its peers");
    declare(*app, *request);
    return {app, [request] { return bench(*request); }};
}

} // namespace tulle::tool

// SPDX-License-Identifier: Apache-2.0
// `tulle run`: checks the options, hands them to PROG in its environment, and becomes PROG, whose
// exit code is ours. With --explore it stays, and runs PROG under many seeds.
#include "coherent_program.hpp"
#include "command.hpp"
#include "explore.hpp"
#include "net/packet.hpp"
#include "options.hpp"
#include "places/hosts.hpp"
#include "places/job_place.hpp"
#include "places/places.hpp"
#include "preload.hpp"
#include "process.hpp"
#include "values.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <CLI/CLI.hpp>
#include <sys/personality.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

struct run_request {
    std::string workers;
    std::string stack_size;
    bool stack_report = false;
    bool explain = false;
    bool check = false;
    bool no_bind = false;
    bool share_cpus = false;
    bool share_globals = false;
    bool pthreads = false;
    std::string ucontext; // empty: not asked for; "masks" or "no-masks"
    std::string seed;
    std::uint64_t explore = 0; // so many seeds; 0: not asked for
    unsigned time_limit = 60;  // seconds for each of them
    std::vector<std::string> assignments;
    unsigned places = 0; // 0: not asked for; the program runs in this process
    std::string memory_places;
    std::string tags;         // empty: others
    std::string io;           // empty: not asked for
    int grace = -1;           // seconds that places have to end after a signal; -1: not asked for
    std::string hosts;        // of places; empty: this one
    std::string mpi;          // that starts places on other hosts; empty: any
    std::string place_of_job; // whose lines are tagged; empty: it is none
    bool has_input = true;    // then: its launcher passes input on
    bool whole_lines = false; // then: what it prints is not left to the launcher
    arguments words;
};

// Sets one option in the environment that PROG gets, if the library would take it.
void hand_over(base::option_table& table, std::string const& assignment) {
    if (auto const wrong = table.set_assignment(assignment, base::option_source::command_line))
        throw failure(k_exit_usage, *wrong);
    auto const equals = assignment.find('=');
    setenv(variable_name(assignment.substr(0, equals)).c_str(),
           assignment.substr(equals + 1).c_str(), 1);
}

base::option_table hand_over_all(run_request const& request) {
    base::option_table table = read_options();
    for (std::string const& assignment : request.assignments) hand_over(table, assignment);
    if (!request.workers.empty()) hand_over(table, "workers=" + request.workers);
    if (!request.stack_size.empty()) hand_over(table, "stack_size=" + request.stack_size);
    if (request.stack_report) hand_over(table, "stack_report=1");
    if (request.explain) hand_over(table, "explain=1");
    if (request.check) hand_over(table, "check=1");
    if (request.share_cpus) hand_over(table, "share_cpus=1");
    if (request.share_globals) hand_over(table, "share_globals=on");
    if (!request.memory_places.empty()) hand_over(table, "memory_places=" + request.memory_places);
    if (!request.io.empty()) hand_over(table, "io=" + request.io);
    if (!request.seed.empty()) hand_over(table, "seed=" + request.seed);
    return table;
}

// The run time would not start, and say less of it.
void check_workers(run_request const& request, base::option_table const& table) {
    bool const has_one = request.explore != 0 || table.number(base::option_id::seed) != 0;
    auto const workers = table.number(base::option_id::workers);
    auto const most = table.number(base::option_id::max_workers);
    if (!has_one && most != 0 && workers > most)
        throw failure(k_exit_usage, "run: workers is " + std::to_string(workers) +
                                        ", and max_workers " + std::to_string(most) +
                                        ": raise the second, or leave it out");
}

[[noreturn]] void refuse(arguments const& words, int error) {
    throw failure(error == ENOENT ? k_exit_not_found : k_exit_cannot_run,
                  "run: cannot run '" + words.front() + "': " + std::strerror(error));
}

// The options as given, but for the seed; a space after each.
std::string options_text(run_request const& request) {
    std::string text;
    if (!request.workers.empty()) text += "--workers " + quoted(request.workers) + " ";
    if (!request.stack_size.empty()) text += "--stack-size " + quoted(request.stack_size) + " ";
    if (request.stack_report) text += "--stack-report ";
    if (request.explain) text += "--explain ";
    if (request.check) text += "--check ";
    if (request.share_cpus) text += "--share-cpus ";
    if (request.share_globals) text += "--share-globals ";
    if (!request.io.empty()) text += "--io " + quoted(request.io) + " ";
    if (!request.ucontext.empty()) text += "--ucontext=" + request.ucontext + " ";
    if (request.pthreads) text += "--pthreads ";
    for (std::string const& assignment : request.assignments)
        text += "--set " + quoted(assignment) + " ";
    return text;
}

// What execvp would say of the program, before the first of many runs.
void check_runs(arguments const& words) {
    bool const is_path = words.front().find('/') != std::string::npos;
    if (is_path && access(words.front().c_str(), X_OK) != 0) refuse(words, errno);
    if (is_path && std::filesystem::is_directory(words.front())) refuse(words, EACCES);
    if (!is_path && !find_program(words.front())) refuse(words, ENOENT);
}

int explore_seeds(run_request const& request, base::option_table const& table) {
    std::uint64_t const first = std::max<std::uint64_t>(table.number(base::option_id::seed), 1);
    if (request.explore - 1 > UINT64_MAX - first)
        throw failure(k_exit_usage, "run: there are not so many seeds");
    check_runs(request.words);
    return explore({request.words, options_text(request), first, request.explore,
                    std::chrono::seconds(request.time_limit)});
}

bool has_places(run_request const& request) {
    return request.places != 0 || !request.hosts.empty() || !request.place_of_job.empty();
}

// Programs inherit it; then variables have the same addresses at all places. Where variables are
// coherent memory, Linux since 6.9 puts the heap of malloc up to 1 GiB behind them, and so among
// the memory that is allocated; without choice at random it begins right behind them.
void fix_addresses(run_request const& request, base::option_table const& table) {
    constexpr unsigned long k_ask = 0xFFFFFFFF;
    bool const shares_all =
        table.number(base::option_id::share_globals) == base::k_share_globals_on;
    if (!shares_all && !(has_places(request) && is_coherent_program(request.words.front()))) return;
    auto const kept = static_cast<unsigned long>(personality(k_ask));
    if ((kept & ADDR_NO_RANDOMIZE) == 0 && personality(kept | ADDR_NO_RANDOMIZE) < 0 && shares_all)
        throw failure(k_exit_failed, "run: --share-globals: the system chooses addresses at random "
                                     "and does not let programs have it otherwise");
}

void check_places(run_request const& request, base::option_table const& table) {
    if (!request.tags.empty() && !has_places(request))
        throw failure(k_exit_usage, "run: --tags requires --places or --hosts");
    if (!request.memory_places.empty() && !has_places(request))
        throw failure(k_exit_usage, "run: --memory-places requires --places or --hosts");
    if (request.grace >= 0 && (request.places == 0 || !request.hosts.empty()))
        throw failure(k_exit_usage, "run: --grace requires --places, and is for this host: what "
                                    "ends places of --hosts is their launcher");
    if (request.places != 0 && table.number(base::option_id::memory_places) >= request.places)
        throw failure(k_exit_usage, "run: place 0 runs main: of " + std::to_string(request.places) +
                                        " places at most " + std::to_string(request.places - 1) +
                                        " can have memory only");
    if (has_places(request) && (table.number(base::option_id::seed) != 0 || request.explore != 0))
        throw failure(k_exit_usage, "run: a deterministic run has one place: leave out --seed and "
                                    "--explore, or -n and --hosts");
    if (!request.ucontext.empty() && !request.hosts.empty())
        throw failure(k_exit_usage, "run: --ucontext is for this host: leave out --hosts, or give "
                                    "`tulle run --ucontext=... PROG` as the program");
    if (request.pthreads &&
        (has_places(request) || request.explore != 0 || table.number(base::option_id::seed) != 0))
        throw failure(k_exit_usage, "run: a program with --pthreads has one place and no seed: "
                                    "leave out -n, --hosts, --seed and --explore");
}

tagging chosen_tags(run_request const& request, bool has_io_of_place_0) {
    return tagging_of(request.tags.empty() && has_io_of_place_0 ? word_of(tagging::lines)
                                                                : request.tags);
}

int run(run_request const& request) {
    base::option_table const table = hand_over_all(request);
    check_workers(request, table);
    check_places(request, table);
    fix_addresses(request, table);
    if (!request.ucontext.empty())
        preload_ucontext(request.words.front(), request.ucontext == k_no_masks);
    if (request.pthreads) preload_pthreads(request.words.front());
    if (request.explore != 0) return explore_seeds(request, table);
    if (!request.place_of_job.empty())
        return run_job_place(request.words, tagging_of(request.place_of_job), request.has_input,
                             request.whole_lines,
                             std::chrono::seconds(table.number(base::option_id::host_timeout)));
    bool const has_io_of_place_0 = table.number(base::option_id::io) == base::k_io_of_place_0;
    tagging const tags = chosen_tags(request, has_io_of_place_0);
    if (!request.hosts.empty() || (request.places != 0 && has_allocation()))
        return run_on_hosts({request.words, request.hosts, request.places, tags, request.mpi,
                             std::chrono::seconds(table.number(base::option_id::start_timeout)),
                             std::chrono::seconds(table.number(base::option_id::host_timeout))});
    if (request.places != 0)
        return run_places(
            {request.words, request.places, tags, !request.no_bind, has_io_of_place_0,
             request.grace < 0 ? k_default_grace : std::chrono::seconds(request.grace)});
    become(request.words);
    refuse(request.words, errno);
}

void add_reports(CLI::App& app, run_request& request) {
    app.add_flag("--stack-report", request.stack_report,
                 "At the end, how much of their stacks threads have used");
    app.add_flag("--explain", request.explain,
                 "At the end, which calls have kept workers from their threads, and which threads "
                 "the system runs");
}

void add_options_of_places(CLI::App& app, std::shared_ptr<run_request> const& request) {
    app.add_option("-n,--places", request->places,
                   "Places: so many processes, one program (<tulle/place.hpp>), on this host "
                   "without --hosts")
        ->type_name("N")
        ->check(number_from(1, net::k_most_places));
    app.add_option("--memory-places", request->memory_places,
                   "Of the places, the last N have memory for the others and run no threads")
        ->type_name("N")
        ->check(value_of("memory_places"));
    app.add_option("--tags", request->tags,
                   "Whose lines begin with the number of their place: others (all but place 0), "
                   "all, none [others]")
        ->type_name("WHOSE")
        ->check(one_of({"others", "all", "none"}));
    app.add_flag_callback(
        "--no-tags", [request] { request->tags = "none"; }, "The same as --tags none");
    app.add_option("--grace", request->grace,
                   "Seconds that places have to end after a signal, before they are killed; the "
                   "same signal again kills them at once [5]")
        ->type_name("SECONDS")
        ->check(number_from(0, 1'000'000));
    app.add_option("--io", request->io,
                   "Whose input and output the places have: own, or 0: they read that of place 0, "
                   "and their lines have no tags [own]")
        ->type_name("WHOSE")
        ->check(one_of({"own", "0"}));
    app.add_flag("--no-bind", request->no_bind,
                 "Places of this host share all processors, also if there is one for each worker");
    app.add_option("--hosts", request->hosts,
                   "Places on these hosts, by an MPI; a number of places may follow each; with -n "
                   "that many in all, otherwise one on each")
        ->type_name("A,B:2,...")
        ->check(any_text());
    app.add_option(
           "--mpi", request->mpi,
           "Which MPI starts places on several hosts: openmpi, mpich [the first one that is there]")
        ->type_name("MPI")
        ->check(one_of({"openmpi", "mpich"}));
    // By launchers of MPIs: places/hosts.cpp.
    app.add_option("--place-of-job", request->place_of_job)->group("");
    app.add_flag("!--no-input", request->has_input)->group("");     // the same
    app.add_flag("--whole-lines", request->whole_lines)->group(""); // the same
}

} // namespace

command add_run(CLI::App& program) {
    auto const request = std::make_shared<run_request>();
    CLI::App* const app =
        program.add_subcommand("run", "Run a program with the given options of the library");
    add_options_of_places(*app, request);
    app->add_option("--workers", request->workers, "OS threads that run threads, at each place")
        ->type_name("N")
        ->check(value_of("workers"));
    app->add_option("--stack-size", request->stack_size,
                    "Bytes of a thread's stack; K, M, G may follow")
        ->type_name("S")
        ->check(value_of("stack_size"));
    add_reports(*app, *request);
    app->add_flag("--share-cpus", request->share_cpus,
                  "Shares the processors with the user's other programs that do (`tulle cpus`)");
    app->add_flag("--share-globals", request->share_globals,
                  "Places of a host have the global variables of PROG in common, if it is for TNT "
                  "or PARMACS");
    app->add_flag("--ucontext{masks}", request->ucontext,
                  "PROG gets makecontext, swapcontext and their kin of Tulle; =no-masks: without "
                  "system calls for signal masks")
        ->type_name("[=no-masks]")
        ->check(one_of({"masks", "no-masks"}));
    app->add_flag("--pthreads", request->pthreads,
                  "The threads of PROG, which knows only those of the C library, are threads of "
                  "Tulle");
    app->add_flag("--check", request->check,
                  "Finds pointers that are sent to other places, where they mean nothing");
    app->add_option("--seed", request->seed,
                    "A deterministic run: one worker, and the seed decides the order of threads")
        ->type_name("N")
        ->check(value_of("seed"));
    app->add_option("--explore", request->explore,
                    "Deterministic runs under N seeds, from 1 or --seed on, until one fails")
        ->type_name("N")
        ->check(number_from(1, UINT32_MAX));
    app->add_option("--time-limit", request->time_limit,
                    "Of each run of --explore; one that takes longer has failed [60]")
        ->type_name("SECONDS")
        ->check(number_from(1, 1'000'000));
    app->add_option("--set", request->assignments, "Any option of `tulle info`; may be repeated")
        ->type_name("NAME=VALUE")
        ->check(assignment_of_option())
        ->allow_extra_args(false);
    app->add_option("PROG", request->words,
                    "The program and its arguments; `--` may stand before it")
        ->required();
    app->positionals_at_end(); // from PROG on, everything is PROG's
    app->footer("The exit code is that of PROG; 2: wrong usage, 126: PROG cannot be run, 127: PROG "
                "was not found.\n"
                "With --explore: 0: no seed failed, 1: one did.\n"
                "With -n: that of place 0, or of the place that failed first; 128 + N for one that "
                "signal N has ended. Places share the "
                "processors:\n"
                "each has as many workers as fall to it.");
    return {app, [request] { return run(*request); }};
}

} // namespace tulle::tool

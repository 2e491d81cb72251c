// SPDX-License-Identifier: Apache-2.0
// `tulle run`: checks the options, hands them to PROG in its environment, and becomes PROG, whose exit code is ours.
#include "command.hpp"
#include "options.hpp"
#include "process.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <CLI/CLI.hpp>

namespace tulle::tool {

namespace {

constexpr int k_exit_cannot_run = 126; // as the shell has it
constexpr int k_exit_not_found = 127;

struct run_request {
    std::string workers;
    std::string stack_size;
    std::vector<std::string> assignments;
    arguments words;
};

// Sets one option in the environment that PROG gets, if the library would take it.
void hand_over(base::option_table& table, std::string const& assignment) {
    if (auto const wrong = table.set_assignment(assignment, base::option_source::command_line)) throw failure(k_exit_usage, *wrong);
    auto const equals = assignment.find('=');
    setenv(variable_name(assignment.substr(0, equals)).c_str(), assignment.substr(equals + 1).c_str(), 1);
}

void hand_over_all(run_request const& request) {
    base::option_table table = read_options();
    for (std::string const& assignment : request.assignments) hand_over(table, assignment);
    if (!request.workers.empty()) hand_over(table, "workers=" + request.workers);
    if (!request.stack_size.empty()) hand_over(table, "stack_size=" + request.stack_size);
}

int run(run_request const& request) {
    hand_over_all(request);
    become(request.words);
    int const error = errno;
    throw failure(error == ENOENT ? k_exit_not_found : k_exit_cannot_run,
                  "run: cannot run '" + request.words.front() + "': " + std::strerror(error));
}

} // namespace

command add_run(CLI::App& program) {
    auto const request = std::make_shared<run_request>();
    CLI::App* const app = program.add_subcommand("run", "Run a program with the given options of the library");
    app->add_option("--workers", request->workers, "OS threads that run threads")->type_name("N");
    app->add_option("--stack-size", request->stack_size, "Bytes of a thread's stack; K, M, G may follow")->type_name("S");
    app->add_option("--set", request->assignments, "Any option of `tulle info`; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app->add_option("PROG", request->words, "The program and its arguments; `--` may stand before it")->required();
    app->positionals_at_end(); // from PROG on, everything is PROG's
    app->footer("The exit code is that of PROG; 2: wrong usage, 126: PROG cannot be run, 127: PROG was not found.");
    return {app, [request] { return run(*request); }};
}

} // namespace tulle::tool

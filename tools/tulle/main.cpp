// SPDX-License-Identifier: Apache-2.0
// The program `tulle`: reads the command line, hands over to a subcommand, turns errors into one
// line and an exit code.
#include "command.hpp"
#include "process.hpp"
#include "usage.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include <tulle/version.hpp>

namespace {

namespace tool = tulle::tool;

void describe(CLI::App& program) {
    program.set_version_flag("--version", std::string("tulle ") + tulle::version(),
                             "Print the version and exit");
    program.set_help_flag("-h,--help", "Print this help and exit");
    program.require_subcommand(0, 1); // none at all: dispatch complains
    program.footer("`tulle COMMAND --help` explains a command; so does `man tulle-COMMAND`.");
}

std::string chosen_command(CLI::App const& program) {
    auto const chosen = program.get_subcommands();
    return chosen.empty() ? "" : " " + chosen.front()->get_name();
}

// Words that nobody knows are the error where others are missing, or help of no command is asked
// for: of `tulle run --wrokers 2` and `tulle rnu --help`.
bool may_be_unknown_word(CLI::App const& program, CLI::ParseError const& outcome) {
    if (dynamic_cast<CLI::CallForHelp const*>(&outcome) != nullptr)
        return program.get_subcommands().empty();
    return dynamic_cast<CLI::ExtrasError const*>(&outcome) != nullptr ||
           dynamic_cast<CLI::RequiredError const*>(&outcome) != nullptr;
}

// CLI11 knows two outcomes: help or version asked for, which is no error, and wrong usage.
int explain(CLI::App const& program, CLI::ParseError const& outcome) {
    if (may_be_unknown_word(program, outcome))
        if (auto const unknown = tool::unknown_word(program))
            throw tool::failure(tool::k_exit_usage, *unknown);
    if (outcome.get_exit_code() == 0) return program.exit(outcome); // prints what was asked for
    std::fprintf(stderr, "tulle: %s\nTry `tulle%s --help`.\n", outcome.what(),
                 chosen_command(program).c_str());
    return tool::k_exit_usage;
}

int dispatch(std::span<tool::command const> commands) {
    for (tool::command const& command : commands)
        if (command.app->parsed()) return command.run();
    throw tool::failure(tool::k_exit_usage, "which command? `tulle --help` names them");
}

// What has been printed is no use where it cannot be written.
void finish_output() {
    errno = 0;
    std::cout.flush();
    bool const is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
    if (is_lost)
        throw tool::failure(tool::k_exit_failed,
                            std::string("cannot write to standard output") +
                                (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

int run(CLI::App& program, std::span<tool::command const> commands, int argc, char** argv) {
    int code = 0;
    try {
        program.parse(argc, argv);
        code = dispatch(commands);
    } catch (CLI::ParseError const& outcome) {
        code = explain(program, outcome);
    }
    if (code == 0) finish_output();
    return code;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App program("Lightweight threads at the price of a task", "tulle");
    describe(program);
    std::array const commands{tool::add_info(program), tool::add_bench(program),
                              tool::add_run(program),  tool::add_ps(program),
                              tool::add_cpus(program), tool::add_cc(program),
                              tool::add_cxx(program),  tool::add_help(program)};
    try {
        return run(program, commands, argc, argv);
    } catch (tool::interrupted const& by) {
        std::signal(by.number, SIG_DFL);
        return std::raise(by.number);
    } catch (tool::failure const& wrong) {
        std::fprintf(stderr, "tulle: %s\n", wrong.what());
        return wrong.code();
    } catch (std::exception const& wrong) {
        std::fprintf(stderr, "tulle: %s\n", wrong.what());
        return tool::k_exit_failed;
    }
}

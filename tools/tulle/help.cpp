// SPDX-License-Identifier: Apache-2.0
// `tulle help`: what `tulle --help` prints, and of a command what `tulle COMMAND --help` does.
#include "command.hpp"
#include "usage.hpp"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

namespace tulle::tool {

namespace {

int show_help(CLI::App const& program, std::string const& name) {
    CLI::App const* about = name.empty() ? &program : nullptr;
    for (CLI::App const* const command :
         program.get_subcommands([](CLI::App const*) { return true; }))
        if (command->get_name() == name) about = command;
    if (about == nullptr) throw failure(k_exit_usage, "help: " + unknown_command(program, name));
    std::string const words = program.get_name() + (name.empty() ? "" : " " + name);
    std::cout << program.get_formatter()->make_help(about, words, CLI::AppFormatMode::Normal);
    return 0;
}

} // namespace

command add_help(CLI::App& program) {
    auto const name = std::make_shared<std::string>();
    CLI::App* const app =
        program.add_subcommand("help", "Explain a command, as `tulle COMMAND --help` does");
    app->add_option("COMMAND", *name, "The command; none: those that there are");
    return {app, [&program, name] { return show_help(program, *name); }};
}

} // namespace tulle::tool

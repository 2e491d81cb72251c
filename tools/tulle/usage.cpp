// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include "base/nearest_word.hpp"

#include <vector>

#include <CLI/CLI.hpp>

namespace tulle::tool {

namespace {

std::string without_dashes(std::string const& option) {
    return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// As they are typed, but for those that other programs use.
std::vector<std::string> options_of(CLI::App const& command) {
    std::vector<std::string> options;
    for (CLI::Option const* const option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (std::string const& name : option->get_lnames()) options.push_back("--" + name);
        for (std::string const& name : option->get_snames()) options.push_back("-" + name);
    }
    return options;
}

// Dashes do not count.
std::string option_meant_by(CLI::App const& command, std::string const& option) {
    std::vector<std::string> const options = options_of(command);
    std::vector<std::string> names;
    for (std::string const& each : options) names.push_back(without_dashes(each));
    std::string const nearest = base::nearest_word(without_dashes(option), names);
    for (std::string const& each : options)
        if (!nearest.empty() && without_dashes(each) == nearest) return each;
    return "";
}

std::string unknown_option(CLI::App const& command, std::string const& word) {
    std::string const option = word.substr(0, word.find('='));
    std::string const meant = option_meant_by(command, option);
    bool const is_of_program = command.get_parent() == nullptr;
    return (is_of_program ? "" : command.get_name() + ": ") + "there is no option '" + option +
           "'; " + (meant.empty() ? "" : "did you mean '" + meant + "'? ") + "`tulle " +
           (is_of_program ? "" : command.get_name() + " ") + "--help` names them all";
}

std::string unknown_in(CLI::App const& command, std::string const& word) {
    if (word.size() > 1 && word.front() == '-') return unknown_option(command, word);
    if (command.get_parent() == nullptr) return unknown_command(command, word);
    return command.get_name() + ": '" + word + "' is a word too many; `tulle " +
           command.get_name() + " --help` says what it takes";
}

std::optional<std::string> unknown_in_rest(CLI::App const& command) {
    for (std::string const& word : command.remaining())
        if (word != "--") return unknown_in(command, word);
    return std::nullopt;
}

} // namespace

std::string unknown_command(CLI::App const& program, std::string const& word) {
    std::vector<std::string> names;
    for (CLI::App const* const command :
         program.get_subcommands([](CLI::App const*) { return true; }))
        names.push_back(command->get_name());
    return "there is no command '" + word + "'; " + base::did_you_mean(word, names) +
           "`tulle --help` names them all";
}

std::optional<std::string> unknown_word(CLI::App const& program) {
    if (auto const unknown = unknown_in_rest(program)) return unknown;
    for (CLI::App const* const command : program.get_subcommands())
        if (!command->get_prefix_command())
            if (auto const unknown = unknown_in_rest(*command)) return unknown;
    return std::nullopt;
}

} // namespace tulle::tool

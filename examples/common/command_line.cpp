// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "program.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

namespace examples {

struct command_line::parser {
    CLI::App app;
};

namespace {

int report_trouble(CLI::App const& app, std::string const& what, bool usage) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), what.c_str());
    if (usage) std::fprintf(stderr, "Try '%s --help'.\n", app.get_name().c_str());
    return k_exit_trouble;
}

} // namespace

command_line::command_line(std::string const& description, std::string const& program)
    : m_parser(new parser{CLI::App{description, program}}) {}

command_line::~command_line() = default;

template <class Number>
void command_line::number(std::string const& names, Number& value, std::string const& help) {
    m_parser->app.add_option(names, value, help)->capture_default_str();
}

template <class Number>
void command_line::number(std::string const& names, Number& value, std::string const& help,
                          std::type_identity_t<Number> low, std::type_identity_t<Number> high) {
    m_parser->app.add_option(names, value, help)
        ->check(CLI::Range(low, high))
        ->capture_default_str();
}

template void command_line::number(std::string const&, unsigned long&, std::string const&);
template void command_line::number(std::string const&, int&, std::string const&, int, int);
template void command_line::number(std::string const&, long&, std::string const&, long, long);
template void command_line::number(std::string const&, unsigned long&, std::string const&,
                                   unsigned long, unsigned long);
template void command_line::number(std::string const&, double&, std::string const&, double, double);

void command_line::bytes(std::string const& names, unsigned long& value, std::string const& help) {
    m_parser->app.add_option(names, value, help)
        ->transform(CLI::AsSizeValue(true))
        ->check(CLI::PositiveNumber);
}

void command_line::text(std::string const& names, std::string& value, std::string const& help) {
    m_parser->app.add_option(names, value, help)->capture_default_str();
}

void command_line::one_of(std::vector<std::string> const& choices, std::string const& names,
                          std::string& value, std::string const& help) {
    m_parser->app.add_option(names, value, help)
        ->check(CLI::IsMember(choices))
        ->capture_default_str();
}

void command_line::texts(std::string const& names, std::vector<std::string>& values,
                         std::string const& help) {
    m_parser->app.add_option(names, values, help);
}

void command_line::flag(std::string const& names, bool& value, std::string const& help) {
    m_parser->app.add_flag(names, value, help);
}

void command_line::require(std::string const& name) { m_parser->app.get_option(name)->required(); }

void command_line::permit_only_with(std::string const& name, std::string const& other) {
    m_parser->app.get_option(name)->needs(m_parser->app.get_option(other));
}

int command_line::run(int argc, char** argv, std::function<int()> const& body) {
    CLI::App& app = m_parser->app;
    try {
        app.parse(argc, argv);
        return body();
    } catch (CLI::CallForHelp const&) {
        std::fputs(app.help().c_str(), stdout);
        return k_exit_ok;
    } catch (CLI::ParseError const& error) {
        return report_trouble(app, error.what(), true);
    } catch (std::exception const& error) {
        return report_trouble(app, error.what(), false);
    }
}

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
//
// What the command line of an example takes. CLI11 lies behind it: included here it would take six
// seconds of compiling in each program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace examples {

// `names` is "n" for an argument that is known by its position, "-o,--output" for an option. The
// value that a variable has is the default, which `--help` shows. The variables must live as long
// as this object.
class command_line {
public:
    command_line(std::string const& description, std::string const& program);
    ~command_line();
    command_line(command_line const&) = delete;
    command_line& operator=(command_line const&) = delete;

    // Number: int, long, unsigned long, double. Values outside of [low, high] are refused.
    template <class Number>
    void number(std::string const& names, Number& value, std::string const& help);
    template <class Number>
    void number(std::string const& names, Number& value, std::string const& help,
                std::type_identity_t<Number> low, std::type_identity_t<Number> high);
    // More than 0, with a unit if one likes: 500MB is 500'000'000, 5KiB is 5120.
    void bytes(std::string const& names, unsigned long& value, std::string const& help);
    void text(std::string const& names, std::string& value, std::string const& help);
    void one_of(std::vector<std::string> const& choices, std::string const& names,
                std::string& value, std::string const& help);
    void texts(std::string const& names, std::vector<std::string>& values, std::string const& help);
    // "!--no-peers" clears the variable.
    void flag(std::string const& names, bool& value, std::string const& help);

    // A command line without it is refused.
    void require(std::string const& name);
    // `name` without `other` is refused
    void permit_only_with(std::string const& name, std::string const& other);

    // Parses the arguments, then calls body, whose result is the exit code. Both may throw: that
    // ends as one line on the standard error.
    int run(int argc, char** argv, std::function<int()> const& body);

private:
    struct parser;
    std::unique_ptr<parser> m_parser;
};

} // namespace examples

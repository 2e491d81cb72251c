// SPDX-License-Identifier: Apache-2.0
// The subcommands of the program. Each `add_*` declares one with CLI11 and returns what runs it: a
// function that gives the program's exit code. Exit codes: 0 done, 1 something failed, 2 wrong
// usage (of `run`: else those of PROG; of `cc` and `c++`: else those of clang).
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

namespace tulle::tool {

inline constexpr int k_exit_failed = 1;
inline constexpr int k_exit_usage = 2;
inline constexpr int k_exit_cannot_run = 126; // a program, as the shell has it
inline constexpr int k_exit_not_found = 127;

// Thrown for what the user got wrong; main prints it as "tulle: ..." and exits with `code`.
class failure : public std::runtime_error {
public:
    failure(int code, std::string const& what) : std::runtime_error(what), m_code(code) {}
    [[nodiscard]] int code() const { return m_code; }

private:
    int m_code;
};

struct command {
    CLI::App* app;
    std::function<int()> run;
};

command add_info(CLI::App& program);
command add_bench(CLI::App& program);
command add_run(CLI::App& program);
command add_ps(CLI::App& program);
command add_cpus(CLI::App& program);
command add_cc(CLI::App& program);
command add_cxx(CLI::App& program);
command add_help(CLI::App& program);

} // namespace tulle::tool

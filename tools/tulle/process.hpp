// SPDX-License-Identifier: Apache-2.0
// Other programs: run one and collect what it prints, become one, find one in PATH, and what a
// running one was started by.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tulle::tool {

using arguments = std::vector<std::string>;

struct outcome {
    int status = 0; // as from waitpid
    bool timed_out = false;
    std::string output; // standard output; standard error goes where ours goes, or nowhere

    [[nodiscard]] bool ok() const { return !timed_out && status == 0; }
    [[nodiscard]] std::string
    reason() const; // "exit code 3", "signal 11 (Segmentation fault)", "took longer than ..."
};

struct limits {
    std::chrono::milliseconds time;
    bool quiet = false;                   // throws its standard error away
    std::filesystem::path directory = {}; // to run in; empty: ours
    bool merge = false;                   // puts its standard error into the output, too
    bool input_ends = true;               // at once; or not before the program does
};

// Thrown for a signal that is to end this process, which it does when what is to be done before has
// been done. No std::exception, so that nobody takes it for something that went wrong.
struct interrupted {
    int number;
};

// Runs a program to its end, or kills its process group when the time is over or a signal has come
// that is to end this process. Of a very long output the middle is left out; what others print that
// the program has started and left behind is read for a moment only.
outcome capture(arguments const& words, limits const& limit);

// The path of a program of that name in PATH.
std::optional<std::filesystem::path> find_program(std::string const& name);

// What was typed to start a process, as far as one line goes, with ? for what is no character;
// empty: it has ended.
std::string command_line(int process);

// Runs a program with our input and outputs; its status as from waitpid.
int run_to_end(arguments const& words);

// Replaces this process; returns only when that failed, with errno set.
void become(arguments const& words);

} // namespace tulle::tool

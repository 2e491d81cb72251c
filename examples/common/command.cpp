// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include "file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace examples {

namespace {

struct pipe_ends {
    file reader;
    file writer;
};

pipe_ends make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    return {file("pipe", ends[0], true), file("pipe", ends[1], true)};
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> c_locale_environment() {
    std::vector<std::string> variables{"LC_ALL=C"};
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "LC_ALL=", 7) != 0) variables.emplace_back(*entry);
    return variables;
}

pid_t start(std::vector<std::string> words, file const& output) {
    auto variables = c_locale_environment();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
    pid_t child = 0;
    int const error = posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                   pointers_to(words).data(), pointers_to(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "cannot run " + words[0]);
    return child;
}

std::string read_all(file& from) {
    std::string all;
    std::array<char, 65536> piece{};
    while (std::size_t const n = from.read(piece.data(), piece.size())) all.append(piece.data(), n);
    return all;
}

} // namespace

bool command_exists(std::string const& program) {
    char const* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    return false;
}

command_result run_command(std::vector<std::string> const& words) {
    auto [reader, writer] = make_pipe();
    pid_t const child = start(words, writer);
    {
        file const closed = std::move(writer); // the pipe ends when no copy of this end is open
    }
    std::string output = read_all(reader);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(status)) throw std::runtime_error(words[0] + " was killed");
    return {WEXITSTATUS(status), output};
}

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "tagged_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

using clock = std::chrono::steady_clock;

std::vector<char*> to_argv(arguments const& words) {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string const& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return argv;
}

// In the child: only calls that are safe after fork.
[[noreturn]] void run_child(char* const* argv, int input, int output, limits const& limit) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with us, whatever ends us
    dup2(output, STDOUT_FILENO);
    int const nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(limit.input_ends ? nothing : input, STDIN_FILENO);
    if (limit.quiet || limit.merge) dup2(limit.merge ? output : nothing, STDERR_FILENO);
    if (limit.directory.empty() || chdir(limit.directory.c_str()) == 0) execvp(argv[0], argv);
    _exit(127);
}

// Reads until the other end is closed; false when the time is over first.
bool read_all(int input, std::string& text, clock::time_point end) {
    std::array<char, 4096> buffer{};
    while (true) {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
        if (left <= 0) return false;
        pollfd wait{input, POLLIN, 0};
        if (poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
        ssize_t const got = read(input, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) return true;
        if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

} // namespace

outcome capture(arguments const& words, limits const& limit) {
    pipe_ends input = make_pipe();
    pipe_ends output = make_pipe();
    std::vector<char*> const argv = to_argv(words);
    pid_t const pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) run_child(argv.data(), input.read.get(), output.write.get(), limit);
    output.write.reset();
    outcome result;
    result.timed_out = !read_all(output.read.get(), result.output, clock::now() + limit.time);
    output.read.reset();
    if (result.timed_out) kill(-pid, SIGKILL);
    while (waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {}
    return result;
}

std::string outcome::reason() const {
    if (timed_out) return "took too long and was stopped";
    if (WIFSIGNALED(status)) {
        int const number = WTERMSIG(status);
        return "ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    return "exit code " + std::to_string(WEXITSTATUS(status));
}

std::optional<std::filesystem::path> find_program(std::string const& name) {
    char const* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::filesystem::path const candidate =
            std::filesystem::path(folder.empty() ? "." : folder) / name;
        if (std::filesystem::is_regular_file(candidate) && access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

void become(arguments const& words) { execvp(words[0].c_str(), to_argv(words).data()); }

std::string command_line(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text.substr(0, 100);
}

} // namespace tulle::tool

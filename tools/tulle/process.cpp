// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "tagged_output.hpp"
#include "watched_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

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

// How many bytes the character has that a text begins with, in UTF-8; 0: it is none, or does
// something to a terminal.
std::size_t size_of_character(std::string_view text) noexcept {
    auto const byte = [text](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
    std::size_t const size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return 0;
    for (std::size_t k = 1; k < size; ++k)
        if ((byte(k) & 0xC0U) != 0x80) return 0;
    bool const is_control = byte(0) == 0xC2 && byte(1) < 0xA0;
    bool const is_longer_than_needed =
        (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
    bool const is_no_character =
        (byte(0) == 0xED && byte(1) >= 0xA0) || (byte(0) == 0xF4 && byte(1) >= 0x90);
    return is_control || is_longer_than_needed || is_no_character ? 0 : size;
}

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        std::size_t const size = size_of_character(text);
        if (size == 0)
            shown += '?';
        else
            shown.append(text, 0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return shown;
}

// In the child: only calls that are safe after fork.
[[noreturn]] void run_child(char* const* argv, int input, int output, limits const& limit,
                            watched_signals const& signals) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with us, whatever ends us
    signals.restore_mask();
    dup2(output, STDOUT_FILENO);
    int const nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(limit.input_ends ? nothing : input, STDIN_FILENO);
    if (limit.quiet || limit.merge) dup2(limit.merge ? output : nothing, STDERR_FILENO);
    if (limit.directory.empty() || chdir(limit.directory.c_str()) == 0) execvp(argv[0], argv);
    _exit(127);
}

// The beginning and the end of a text that may have no end.
class long_text {
public:
    void append(char const* part, std::size_t size) {
        m_text.append(part, size);
        if (m_text.size() <= 4 * k_part) return;
        std::size_t const middle = m_text.size() - 2 * k_part;
        m_text.erase(k_part, middle);
        m_left_out += middle;
    }
    // Of all that has been appended.
    [[nodiscard]] std::string take() {
        if (m_left_out != 0)
            m_text.insert(k_part,
                          "\n... " + std::to_string(m_left_out) + " bytes are left out here ...\n");
        return std::move(m_text);
    }

private:
    static constexpr std::size_t k_part = std::size_t{1} << 20U;

    std::string m_text;
    std::size_t m_left_out = 0;
};

// A program that has been started, and what it prints.
class captured_program {
public:
    captured_program(pid_t process, int output, watched_signals& signals)
        : m_process(process), m_output(output), m_signals(signals) {}

    // Reads until the other end is closed, or the program has ended and what it has left behind
    // does not close it soon; false when the time is over first.
    bool read_all(clock::time_point end) {
        bool has_ended = false;
        while (m_output >= 0) {
            if (!has_ended && is_over()) {
                has_ended = true;
                end = std::min(end, clock::now() + k_patience_after_end);
            }
            auto const left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
            if (left <= 0) return has_ended;
            wait(static_cast<int>(std::min<std::int64_t>(left, k_longest_wait_ms)));
        }
        return true;
    }
    void kill_group() const noexcept { kill(-m_process, SIGKILL); }
    // As from waitpid.
    int wait_for_end() {
        int status = 0;
        for (;;) {
            pid_t const ended = waitpid(m_process, &status, WNOHANG);
            if (ended == m_process || (ended < 0 && errno != EINTR)) break;
            wait(-1);
        }
        end_if_asked();
        return status;
    }
    [[nodiscard]] std::string text() { return m_text.take(); }

private:
    static constexpr int k_longest_wait_ms = 1'000'000;
    static constexpr std::chrono::milliseconds k_patience_after_end{200};

    // Its status is left for wait_for_end().
    [[nodiscard]] bool is_over() const noexcept {
        siginfo_t ended{};
        return waitid(P_PID, static_cast<id_t>(m_process), &ended, WEXITED | WNOHANG | WNOWAIT) ==
                   0 &&
               ended.si_pid == m_process;
    }
    void wait(int time_ms) {
        std::array<pollfd, 2> wanted{{{m_signals.news(), POLLIN, 0}, {m_output, POLLIN, 0}}};
        if (poll(wanted.data(), wanted.size(), time_ms) <= 0) return;
        if (wanted[0].revents != 0) end_if_asked();
        if (wanted[1].revents != 0) read_some();
    }
    void read_some() {
        std::array<char, 65536> buffer;
        ssize_t const got = read(m_output, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) m_output = -1;
        if (got > 0) m_text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    // The terminal does not send its signals to the program, which has a group of its own.
    void end_if_asked() {
        while (auto const info = m_signals.take()) {
            auto const number = static_cast<int>(info->ssi_signo);
            if (number == SIGCHLD) continue;
            kill_group();
            while (waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {}
            throw interrupted{number};
        }
    }

    pid_t m_process;
    int m_output; // -1: it has ended
    watched_signals& m_signals;
    long_text m_text;
};

} // namespace

outcome capture(arguments const& words, limits const& limit) {
    pipe_ends input = make_pipe();
    pipe_ends output = make_pipe();
    watched_signals signals{SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    std::vector<char*> const argv = to_argv(words);
    pid_t const pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) run_child(argv.data(), input.read.get(), output.write.get(), limit, signals);
    setpgid(pid, pid); // also before it does so itself
    output.write.reset();
    captured_program program(pid, output.read.get(), signals);
    outcome result;
    result.timed_out = !program.read_all(clock::now() + limit.time);
    output.read.reset();
    if (result.timed_out) program.kill_group();
    result.status = program.wait_for_end();
    result.output = program.text();
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
    // The last part may be empty, too.
    std::istringstream folders(path != nullptr ? path + std::string(":")
                                               : "/usr/local/bin:/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::filesystem::path const candidate =
            std::filesystem::path(folder.empty() ? "." : folder) / name;
        std::error_code none; // such as of a folder that may not be searched
        if (std::filesystem::is_regular_file(candidate, none) &&
            access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

void become(arguments const& words) { execvp(words[0].c_str(), to_argv(words).data()); }

// As system(3), the caller leaves what a terminal sends to both of them to the program, which may
// have files to remove.
int run_to_end(arguments const& words) {
    std::vector<char*> const argv = to_argv(words);
    auto* const on_interrupt = std::signal(SIGINT, SIG_IGN);
    auto* const on_quit = std::signal(SIGQUIT, SIG_IGN);
    pid_t const pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
        std::signal(SIGINT, on_interrupt);
        std::signal(SIGQUIT, on_quit);
        prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with us, whatever ends us
        execvp(argv[0], argv.data());
        std::fprintf(stderr, "tulle: %s: %s\n", argv[0], std::strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), argv[0]);
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGQUIT, on_quit);
    return status;
}

std::string command_line(int process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::replace(text.begin(), text.end(), '\0', ' ');
    return printable(text.substr(0, 100));
}

} // namespace tulle::tool

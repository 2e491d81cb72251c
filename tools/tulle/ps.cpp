// SPDX-License-Identifier: Apache-2.0
// `tulle ps`: which processes use the library, and what the threads of one of them are doing. The
// process writes that itself, into a pipe of ours that it is told of with the signal
// (diag/report_request.hpp).
#include "command.hpp"
#include "process.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "diag/report_request.hpp"

namespace tulle::tool {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto k_answer_patience = std::chrono::seconds(10); // until the first line comes
constexpr auto k_most_silence = std::chrono::seconds(120);

enum class answers { yes, no, later, forbidden, gone };

std::string folder_of(int process) { return "/proc/" + std::to_string(process); }

answers ask_map(int process) {
    std::ifstream maps(folder_of(process) + "/maps");
    if (!maps) return errno == ENOENT || errno == ESRCH ? answers::gone : answers::forbidden;
    for (std::string line; std::getline(maps, line);) {
        if (line.find(std::string("/memfd:") + diag::k_answering_mark + ' ') != std::string::npos)
            return answers::yes;
    }
    return answers::no;
}

// Whether a set of signals of a process or a thread has it, such as SigCgt.
bool has_signal(std::string const& folder, std::string const& set, int number) {
    std::ifstream status(folder + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(set + ":"))
            return (std::strtoull(line.c_str() + set.size() + 1, nullptr, 16) >>
                        static_cast<unsigned>(number - 1) &
                    1U) != 0;
    return false;
}

bool all_threads_block(int process, int number) {
    std::error_code error;
    for (auto const& entry :
         std::filesystem::directory_iterator(folder_of(process) + "/task", error))
        if (!has_signal(entry.path(), "SigBlk", number)) return false;
    return true;
}

// The library has prepared it for the signal, but the program may have changed that.
answers ask(int process) {
    answers const mapped = ask_map(process);
    if (mapped != answers::yes) return mapped;
    if (!has_signal(folder_of(process), "SigCgt", SIGQUIT)) return answers::no;
    return all_threads_block(process, SIGQUIT) ? answers::later : answers::yes;
}

std::optional<int> as_number(std::string const& text) {
    int number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number <= 0)
        return std::nullopt;
    return number;
}

// Nobody is told of beside the list, which other programs read.
int list_processes() {
    bool is_empty = true;
    for (auto const& entry : std::filesystem::directory_iterator("/proc")) {
        auto const process = as_number(entry.path().filename());
        if (!process || ask(*process) != answers::yes) continue;
        std::printf("%8d  %s\n", *process, command_line(*process).c_str());
        is_empty = false;
    }
    if (is_empty) std::fputs("tulle: ps: there is no process that can be asked\n", stderr);
    return 0;
}

class answer_pipe {
public:
    answer_pipe() {
        if (::pipe2(m_ends.data(), O_CLOEXEC) != 0)
            throw failure(k_exit_failed, std::string("ps: pipe: ") + std::strerror(errno));
    }
    ~answer_pipe() {
        close_writing();
        ::close(m_ends[0]);
    }
    answer_pipe(answer_pipe const&) = delete;
    answer_pipe& operator=(answer_pipe const&) = delete;

    [[nodiscard]] int reading() const { return m_ends[0]; }
    [[nodiscard]] int writing() const { return m_ends[1]; }
    void close_writing() {
        if (m_ends[1] >= 0) ::close(m_ends[1]);
        m_ends[1] = -1;
    }

private:
    std::array<int, 2> m_ends{-1, -1};
};

void send_request(int process, int descriptor) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(diag::request_value(descriptor));
    if (::sigqueue(process, SIGQUIT, value) == 0) return;
    throw failure(k_exit_failed,
                  "ps: process " + std::to_string(process) + ": " + std::strerror(errno));
}

// False: nothing came for so long.
bool wait_for_text(int input, std::chrono::milliseconds patience) {
    auto const end = clock::now() + patience;
    while (true) {
        auto const left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
        if (left <= 0) return false;
        pollfd wait{input, POLLIN, 0};
        if (::poll(&wait, 1, static_cast<int>(left)) > 0) return true;
    }
}

// Our end for writing stays open until the process has opened it, too.
bool show_answer(answer_pipe& ends) {
    std::array<char, 4096> buffer{};
    for (bool first = true;
         wait_for_text(ends.reading(), first ? k_answer_patience : k_most_silence); first = false) {
        ssize_t const got = ::read(ends.reading(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return !first;
        if (first) ends.close_writing();
        std::fwrite(buffer.data(), 1, static_cast<std::size_t>(got), stdout);
    }
    return false;
}

int show(int process) {
    std::string const who = "ps: process " + std::to_string(process);
    switch (ask(process)) {
        case answers::gone:
            throw failure(k_exit_failed, "ps: there is no process " + std::to_string(process));
        case answers::forbidden:
            throw failure(k_exit_failed, who + " belongs to another user, or may not be looked at");
        case answers::no:
            throw failure(k_exit_failed,
                          who + " does not use Tulle, or has not used it yet, or handles SIGQUIT "
                                "itself or leaves it alone, or runs with TULLE_DEADLOCK=off");
        case answers::later:
            throw failure(k_exit_failed, who + " blocks SIGQUIT in all its OS threads");
        case answers::yes: break;
    }
    answer_pipe ends;
    send_request(process, ends.writing());
    if (show_answer(ends)) return 0;
    throw failure(k_exit_failed,
                  who + " does not answer; if it belongs to another user, ask as that user");
}

int run(std::string const& process) {
    if (process.empty()) return list_processes();
    auto const number = as_number(process);
    if (!number) throw failure(k_exit_usage, "ps: '" + process + "' is no process number");
    return show(*number);
}

} // namespace

command add_ps(CLI::App& program) {
    auto const process = std::make_shared<std::string>();
    CLI::App* const app = program.add_subcommand(
        "ps", "Show what the threads of a process are doing, or which processes use the library");
    app->add_option("PID", *process, "The process; none: list those that can be asked");
    return {app, [process] { return run(*process); }};
}

} // namespace tulle::tool

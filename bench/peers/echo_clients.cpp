// SPDX-License-Identifier: Apache-2.0
// The benchmark `echo` of a server in another language, beside the clients that the others have:
//     echo-clients LIBRARY SERVER WORD [OPTION ...]
// starts `SERVER WORD --workers N --n CONNECTIONS` with a listening socket as descriptor 3, once
// for each run. It accepts so many connections, sends back what comes, and ends with exit code 0
// when all have been closed.
#include "echo/echo.hpp"

#include <cstdio>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

namespace {

constexpr int k_socket_of_server = 3;
constexpr int k_words_before_options = 4;

struct server {
    char const* program;
    char const* word;
};

[[noreturn]] void become(server const& one, settings const& s, int listener, int connections) {
    // dup2() of a descriptor to itself leaves it closed by exec.
    int const spare = ::fcntl(listener, F_DUPFD, k_socket_of_server + 1);
    if (spare >= 0 && ::dup2(spare, k_socket_of_server) == k_socket_of_server) {
        ::close(spare);
        ::execl(one.program, one.program, one.word, "--workers", std::to_string(s.workers).c_str(),
                "--n", std::to_string(connections).c_str(), nullptr);
    }
    _exit(127);
}

bool has_ended_well(pid_t process) {
    int status = 0;
    return ::waitpid(process, &status, 0) == process && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

template <class WhileHeld>
bool serve_by(server const& one, settings const& s, echo_clients const& clients, int connections,
              WhileHeld while_held) {
    pid_t const process = ::fork();
    if (process == 0) become(one, s, clients.listener(), connections);
    if (process < 0) return false;
    char held = 0;
    bool const are_there = ::read(clients.held(), &held, 1) == 1;
    while_held();
    return has_ended_well(process) && are_there;
}

int run(int argc, char** argv) {
    if (argc < k_words_before_options) {
        std::fprintf(stderr, "usage: %s LIBRARY SERVER WORD [OPTION ...]\n", argv[0]);
        return 2;
    }
    char const* const library = argv[1];
    server const one{argv[2], argv[3]};
    argv[k_words_before_options - 1] = argv[0]; // for which parse() looks before the options
    return echo_main_by(library, argc - k_words_before_options + 1,
                        argv + k_words_before_options - 1, [&one](settings const& s) {
                            return [&one, s](echo_clients const& clients, int connections,
                                             auto while_held) {
                                return serve_by(one, s, clients, connections, while_held);
                            };
                        });
}

} // namespace

} // namespace tulle::bench

int main(int argc, char** argv) { return tulle::bench::run(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
//
// A server that sends back what it gets, with a thread for each connection: `echo --port 7777`. It
// prints its port, and ends after so many connections, if it is told how many.
#include "common/listener.hpp"
#include "common/program.hpp"

#include <tulle/tulle.hpp>

#include <array>
#include <cstdio>
#include <string_view>

namespace {

using namespace examples;

struct server_options {
    common_options common;
    int port = 0;
    long connections = 0; // 0: for ever
    unsigned long most = 100'000;
    int stack_kib = 64;
};

// Runs in a thread of the connection's own.
void serve(int socket) noexcept {
    std::array<char, 4096> buffer;
    ssize_t got = 0;
    while ((got = tulle::io::read(socket, buffer.data(), buffer.size())) > 0) {
        if (send_all(socket, {buffer.data(), static_cast<std::size_t>(got)}) < 0) break;
    }
    tulle::io::close(socket);
}

int serve_all(server_options const& options) {
    listener const door(options.port);
    std::printf("port %d\n", door.port());
    std::fflush(stdout);
    serve_connections(door, options.connections, options.most, &serve);
    return k_exit_ok;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Sends back what it gets, with a thread for each connection.", "echo"};
    server_options options;
    add_worker_options(line, options.common);
    line.number("--port", options.port, "of 127.0.0.1; 0: any", 0, 65535);
    line.number("--connections", options.connections, "end after so many; 0: never", 0L,
                1'000'000'000L);
    line.number("--most", options.most, "connections that are open at a time", 1UL, 1'000'000UL);
    line.number("--stack", options.stack_kib, "KiB of a connection's stack", 16, 65536);
    return line.run(argc, argv, [&] {
        runtime_session const session(options.common,
                                      static_cast<std::size_t>(options.stack_kib) * 1024);
        return serve_all(options);
    });
}

// SPDX-License-Identifier: Apache-2.0
// The calls of the system, as workloads on sockets see them; each blocks the OS thread.
#pragma once

#include <cstddef>

#include <sys/socket.h>
#include <unistd.h>

namespace tulle::bench {

struct system_calls {
    static ssize_t read(int file, void* to, std::size_t size) { return ::read(file, to, size); }
    static ssize_t write(int file, void const* from, std::size_t size) {
        return ::write(file, from, size);
    }
    static void prepare(int /*listener*/) {}
    static int accept(int socket) { return ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC); }
    static void close(int file) { ::close(file); }
};

} // namespace tulle::bench

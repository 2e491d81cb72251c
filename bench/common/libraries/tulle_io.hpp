// SPDX-License-Identifier: Apache-2.0
// Tulle's calls on descriptors, as workloads on sockets see them (names: socket_calls.hpp).
#pragma once

#include <tulle/io.hpp>

#include <fcntl.h>

namespace tulle::bench {

struct tulle_calls {
    static ssize_t read(int file, void* to, std::size_t size) { return io::read(file, to, size); }
    static ssize_t write(int file, void const* from, std::size_t size) {
        return io::write(file, from, size);
    }
    static void prepare(int listener) {
        ::fcntl(listener, F_SETFL, ::fcntl(listener, F_GETFL) | O_NONBLOCK);
    }
    static int accept(int socket) { return io::accept(socket, nullptr, nullptr, SOCK_CLOEXEC); }
    static void close(int file) { io::close(file); }
};

} // namespace tulle::bench

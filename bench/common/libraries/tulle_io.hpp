// SPDX-License-Identifier: Apache-2.0
// Tulle's calls on descriptors, as workloads on sockets see them (names: socket_calls.hpp).
#pragma once

#include <tulle/io.hpp>

namespace tulle::bench {

struct tulle_calls {
    static ssize_t read(int file, void* to, std::size_t size) { return io::read(file, to, size); }
    static ssize_t write(int file, void const* from, std::size_t size) {
        return io::write(file, from, size);
    }
    static int accept(int socket) { return io::accept(socket, nullptr, nullptr, SOCK_CLOEXEC); }
    static void close(int file) { io::close(file); }
};

} // namespace tulle::bench

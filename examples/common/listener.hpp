// SPDX-License-Identifier: Apache-2.0
//
// What the servers among the examples have in common: a listening socket on a port of 127.0.0.1,
// and the writing of all of a text.
#pragma once

#include <tulle/io.hpp>
#include <tulle/spawn_group.hpp>

#include <string_view>
#include <system_error>

#include <sys/socket.h>

namespace examples {

class listener {
public:
    // Port 0: the system chooses one. Throws std::system_error.
    explicit listener(int port);
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;
    ~listener();

    [[nodiscard]] int port() const;
    // A new connection, or a negative errno value. Where descriptors are short it waits until there
    // are some.
    [[nodiscard]] int accept() const noexcept;

private:
    int m_socket;
};

// 0 or a negative errno value.
[[nodiscard]] int send_all(int socket, std::string_view text) noexcept;

// Spawns serve(socket) for each of so many connections, 0: without end, and waits for all of them.
// Only so many are open at a time; others wait in the queue of the system. Throws std::system_error
// where none can be accepted any longer.
template <class Serve>
void serve_connections(listener const& door, long count, unsigned long most, Serve const& serve) {
    tulle::spawn_group connections(most, tulle::when_full::block);
    for (long k = 0; count == 0 || k < count; ++k) {
        int const socket = door.accept();
        if (socket < 0) throw std::system_error(-socket, std::generic_category(), "accept");
        connections.spawn([socket, &serve] { serve(socket); });
    }
    connections.join();
}

} // namespace examples

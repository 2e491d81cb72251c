// SPDX-License-Identifier: Apache-2.0
// A server of echo_clients with a thread for each connection.
#pragma once

#include "echo_clients.hpp"

#include <array>

namespace tulle::bench {

template <class Calls> void serve_connection(int socket) {
    std::array<char, echo_clients::k_buffer> message;
    ssize_t got = 0;
    while ((got = Calls::read(socket, message.data(), message.size())) > 0) {
        if (Calls::write(socket, message.data(), static_cast<std::size_t>(got)) != got) break;
    }
    Calls::close(socket);
}

// Runs while_held() when all connections are there and idle, and returns after all have ended.
// False: they did not come.
template <class Library, class Calls, class WhileHeld>
bool serve_clients(echo_clients const& clients, int connections, WhileHeld while_held) {
    typename Library::group threads;
    Calls::prepare(clients.listener());
    bool ok = true;
    for (int k = 0; k < connections && ok; ++k) {
        int const socket = Calls::accept(clients.listener());
        ok = socket >= 0;
        if (ok) threads.spawn([socket] { serve_connection<Calls>(socket); });
    }
    char held = 0;
    ok = ok && Calls::read(clients.held(), &held, 1) == 1;
    while_held();
    threads.wait();
    return ok;
}

} // namespace tulle::bench

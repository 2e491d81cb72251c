// SPDX-License-Identifier: Apache-2.0
// A server of echo_clients with as many OS threads as workers, each of which serves a share of the
// connections in a loop of its own.
#pragma once

#include "../common/echo_clients.hpp"

#include <cstddef>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace tulle::bench {

// Loop: add(socket) before run(), which returns after all have ended. False: connections did not
// come.
template <class Loop, class WhileHeld>
bool serve_by_loops(int workers, echo_clients const& clients, int connections,
                    WhileHeld while_held) {
    std::vector<Loop> loops(static_cast<std::size_t>(workers));
    bool ok = true;
    for (int k = 0; k < connections && ok; ++k) {
        int const socket = ::accept4(clients.listener(), nullptr, nullptr, SOCK_CLOEXEC);
        ok = socket >= 0 && loops[static_cast<std::size_t>(k % workers)].add(socket);
    }
    std::vector<std::thread> threads;
    for (Loop& loop : loops) threads.emplace_back([&loop] { loop.run(); });
    char held = 0;
    ok = ok && ::read(clients.held(), &held, 1) == 1;
    while_held();
    for (std::thread& t : threads) t.join();
    return ok;
}

} // namespace tulle::bench

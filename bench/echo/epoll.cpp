// SPDX-License-Identifier: Apache-2.0
// Loops over an epoll each, as many as workers, instead of threads for connections: how a server is
// written that is to be fast.
#include "echo.hpp"
#include "loops.hpp"

#include <array>

#include <sys/epoll.h>
#include <unistd.h>

namespace tulle::bench {

namespace {

class event_loop {
public:
    event_loop() : m_epoll(::epoll_create1(EPOLL_CLOEXEC)) {}
    ~event_loop() { ::close(m_epoll); }
    event_loop(event_loop const&) = delete;
    event_loop& operator=(event_loop const&) = delete;

    // Before run().
    bool add(int socket) {
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.fd = socket;
        ++m_open;
        return ::epoll_ctl(m_epoll, EPOLL_CTL_ADD, socket, &wanted) == 0;
    }
    // Until all connections have ended.
    void run() {
        std::array<epoll_event, 256> found{};
        while (m_open != 0) {
            int const count = ::epoll_wait(m_epoll, found.data(), found.size(), -1);
            for (int k = 0; k < count; ++k) serve(found[static_cast<std::size_t>(k)].data.fd);
        }
    }

private:
    void serve(int socket) {
        std::array<char, echo_clients::k_buffer> message;
        ssize_t const got = ::read(socket, message.data(), message.size());
        if (got > 0 && ::write(socket, message.data(), static_cast<std::size_t>(got)) == got)
            return;
        ::close(socket);
        --m_open;
    }

    int m_epoll;
    long m_open = 0;
};

} // namespace

benchmark const registered("echo", "epoll", [](int argc, char** argv) {
    return echo_main_by("epoll", argc, argv, [](settings const& s) {
        return [&s](echo_clients const& clients, int connections, auto while_held) {
            return serve_by_loops<event_loop>(s.workers, clients, connections, while_held);
        };
    });
});

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
#include "echo_clients.hpp"

#include "harness.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

namespace {

using message = std::array<char, echo_clients::k_message>;

struct client {
    int socket = -1;
    std::size_t got = 0; // of the answer
    double sent_at = 0;
    message sent{}, received{};
};

template <class T> bool put(int file, T const& value) noexcept {
    return ::write(file, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}
template <class T> bool get(int file, T& value) noexcept {
    return ::read(file, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

class client_process {
public:
    client_process(sockaddr_in const& server, int connections)
        : m_server(server), m_clients(static_cast<std::size_t>(connections)) {}

    bool connect_all() noexcept {
        m_epoll = ::epoll_create1(EPOLL_CLOEXEC);
        return std::all_of(m_clients.begin(), m_clients.end(),
                           [this](client& c) { return connect(c); });
    }
    // Each sends until then, and at least once. False: an answer was wrong or missing.
    bool exchange_until(double end) {
        std::size_t under_way = 0;
        for (client& c : m_clients) under_way += send(c) ? 1 : 0;
        if (under_way != m_clients.size()) return false;
        std::array<epoll_event, 256> found{};
        while (under_way != 0) {
            int const count = ::epoll_wait(m_epoll, found.data(), found.size(), 20'000);
            if (count <= 0) return false;
            for (int k = 0; k < count; ++k) {
                auto& c = *static_cast<client*>(found[static_cast<std::size_t>(k)].data.ptr);
                if (!receive(c)) return false;
                if (c.got != sizeof(message)) continue;
                if (!take_answer(c)) return false;
                if (seconds() >= end)
                    --under_way;
                else if (!send(c))
                    return false;
            }
        }
        return true;
    }
    // With resets, so that no port stays occupied.
    void close_all() noexcept {
        linger const at_once{1, 0};
        for (client const& c : m_clients) {
            ::setsockopt(c.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            ::close(c.socket);
        }
    }
    [[nodiscard]] std::vector<double>& times() noexcept { return m_times; }

private:
    bool connect(client& c) noexcept {
        c.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int const yes = 1;
        ::setsockopt(c.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.ptr = &c;
        return ::connect(c.socket, reinterpret_cast<sockaddr const*>(&m_server), sizeof m_server) ==
                   0 &&
               ::epoll_ctl(m_epoll, EPOLL_CTL_ADD, c.socket, &wanted) == 0;
    }
    bool send(client& c) noexcept {
        std::uint64_t const number = ++m_sent;
        for (std::size_t at = 0; at < c.sent.size(); at += sizeof number)
            std::memcpy(&c.sent[at], &number, sizeof number);
        c.got = 0;
        c.sent_at = seconds();
        return ::send(c.socket, c.sent.data(), c.sent.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(c.sent.size());
    }
    static bool receive(client& c) noexcept {
        ssize_t const got =
            ::recv(c.socket, &c.received[c.got], c.received.size() - c.got, MSG_DONTWAIT);
        if (got > 0) c.got += static_cast<std::size_t>(got);
        return got > 0;
    }
    bool take_answer(client const& c) {
        m_times.push_back(seconds() - c.sent_at);
        return c.received == c.sent;
    }

    sockaddr_in m_server;
    std::vector<client> m_clients;
    std::vector<double> m_times;
    std::uint64_t m_sent = 0;
    int m_epoll = -1;
};

// In a process of its own.
echo_load use_server(sockaddr_in const& server, int connections, int from, int to) {
    client_process clients(server, connections);
    echo_load load;
    double time = 0;
    bool ok = clients.connect_all() && clients.exchange_until(0);
    if (!put(to, 'h') || !get(from, time)) return load;
    clients.times().clear();
    double const begin = seconds();
    ok = ok && (time == 0 || clients.exchange_until(begin + time));
    load.seconds = seconds() - begin;
    clients.close_all();
    std::vector<double>& times = clients.times();
    load.answers = times.size();
    load.ok = ok;
    if (times.empty()) return load;
    auto const at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
    std::nth_element(times.begin(), at, times.end());
    load.p99_us = 1e6 * *at;
    return load;
}

int listen_anywhere(sockaddr_in& bound) noexcept {
    int const listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof bound;
    bound = {};
    bound.sin_family = AF_INET;
    bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool const listens = ::bind(listener, reinterpret_cast<sockaddr*>(&bound), size) == 0 &&
                         ::listen(listener, 4096) == 0 &&
                         ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
    return listens ? listener : -1;
}

} // namespace

bool want_descriptors(long count) noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           limit.rlim_cur >= static_cast<rlim_t>(count) + 100;
}

echo_clients::echo_clients(int connections) {
    std::array<int, 2> there{-1, -1}, back{-1, -1};
    sockaddr_in bound{};
    m_listener = listen_anywhere(bound);
    if (m_listener < 0 || ::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return;
    m_pid = ::fork();
    if (m_pid == 0) {
        ::close(m_listener);
        ::close(there[1]);
        echo_load const load = use_server(bound, connections, there[0], back[1]);
        _exit(put(back[1], load) ? 0 : 1);
    }
    ::close(there[0]);
    ::close(back[1]);
    m_to = there[1];
    m_from = back[0];
}

void echo_clients::go(double seconds) noexcept { static_cast<void>(put(m_to, seconds)); }

echo_load echo_clients::result() noexcept {
    echo_load load;
    return get(m_from, load) ? load : echo_load{};
}

echo_clients::~echo_clients() {
    for (int const file : {m_listener, m_to, m_from}) ::close(file);
    if (m_pid > 0) ::waitpid(m_pid, nullptr, 0);
}

} // namespace tulle::bench

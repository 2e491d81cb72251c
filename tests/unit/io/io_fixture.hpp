// SPDX-License-Identifier: Apache-2.0
// Sockets for tests of input and output.
#pragma once

#include "open_descriptors.hpp"
#include "runtime_fixture.hpp"

#include <tulle/io.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

class io_calls : public over_workers {};

// Two sockets; what is written to one can be read from the other. They block, as the usual ones do.
class connected_pair {
public:
    connected_pair() {
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, m_ends.data()), 0);
    }
    connected_pair(connected_pair const&) = delete;
    connected_pair& operator=(connected_pair const&) = delete;
    ~connected_pair() {
        for (int& end : m_ends) close(end);
    }
    [[nodiscard]] int ours() const noexcept { return m_ends[0]; }
    [[nodiscard]] int theirs() const noexcept { return m_ends[1]; }
    void close_theirs() noexcept { close(m_ends[1]); }
    // It is not closed at the end.
    int give_ours() noexcept { return std::exchange(m_ends[0], -1); }

private:
    static void close(int& end) noexcept {
        if (end >= 0) ::close(std::exchange(end, -1));
    }
    std::array<int, 2> m_ends{-1, -1};
};

// On a port of 127.0.0.1 that the system chooses.
class tcp_listener {
public:
    tcp_listener() : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(m_socket, reinterpret_cast<sockaddr const*>(&any), sizeof any), 0);
        EXPECT_EQ(::listen(m_socket, 128), 0);
    }
    tcp_listener(tcp_listener const&) = delete;
    tcp_listener& operator=(tcp_listener const&) = delete;
    ~tcp_listener() { end(); }
    [[nodiscard]] int socket() const noexcept { return m_socket; }
    [[nodiscard]] sockaddr_in address() const {
        sockaddr_in bound{};
        socklen_t size = sizeof bound;
        EXPECT_EQ(::getsockname(m_socket, reinterpret_cast<sockaddr*>(&bound), &size), 0);
        return bound;
    }
    void end() noexcept {
        if (m_socket >= 0) ::close(std::exchange(m_socket, -1));
    }

private:
    int m_socket;
};

// A connection that the listener has not accepted yet.
class tcp_client {
public:
    explicit tcp_client(tcp_listener const& listener)
        : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in const to = listener.address();
        EXPECT_EQ(::connect(m_socket, reinterpret_cast<sockaddr const*>(&to), sizeof to), 0);
    }
    tcp_client(tcp_client const&) = delete;
    tcp_client& operator=(tcp_client const&) = delete;
    ~tcp_client() { ::close(m_socket); }
    [[nodiscard]] int socket() const noexcept { return m_socket; }

private:
    int m_socket;
};

// The first call that waits makes the descriptors that waiting needs. One whose limit is over by
// then makes none, as happens on a busy machine; so this reads from `silent` until they are there.
inline void begin_to_wait(int silent) {
    auto const are_there = [] {
        auto const all = open_descriptors();
        return std::find(all.begin(), all.end(), "anon_inode:[eventpoll]") != all.end();
    };
    do {
        char c = 0;
        EXPECT_EQ(tulle::io::read(silent, &c, 1, tulle::wait_limit(std::chrono::milliseconds(1))),
                  -ETIMEDOUT);
    } while (!are_there());
}

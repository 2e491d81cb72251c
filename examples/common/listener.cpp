// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include <tulle/this_thread.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace examples {

namespace {

constexpr int k_queue = 4096; // connections that have not been accepted

void check(int result, char const* call) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), call);
}

sockaddr_in local_address(int port) noexcept {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool is_shortage(int error) noexcept {
    return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

} // namespace

listener::listener(int port)
    : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    check(m_socket, "socket");
    int const yes = 1;
    sockaddr_in const address = local_address(port);
    check(::setsockopt(m_socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), "setsockopt");
    check(::bind(m_socket, reinterpret_cast<sockaddr const*>(&address), sizeof address), "bind");
    check(::listen(m_socket, k_queue), "listen");
}

listener::~listener() { ::close(m_socket); }

int listener::port() const {
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    check(::getsockname(m_socket, reinterpret_cast<sockaddr*>(&bound), &size), "getsockname");
    return ntohs(bound.sin_port);
}

int listener::accept() const noexcept {
    for (;;) {
        int const made = tulle::io::accept(m_socket, nullptr, nullptr, SOCK_CLOEXEC);
        if (is_shortage(made)) {
            tulle::this_thread::sleep_for(std::chrono::milliseconds(10));
            continue;
        }
        if (made == -ECONNABORTED) continue;
        int const yes = 1;
        if (made >= 0) ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        return made;
    }
}

int send_all(int socket, std::string_view text) noexcept {
    while (!text.empty()) {
        ssize_t const sent = tulle::io::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0) return static_cast<int>(sent);
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return 0;
}

} // namespace examples

// SPDX-License-Identifier: Apache-2.0
#include "net/host_watch.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tulle::net {

namespace {

constexpr std::uint64_t k_ms = 1'000'000;
constexpr std::uint64_t k_most_period_ns = 500 * k_ms;
constexpr std::uint64_t k_least_period_ns = 5 * k_ms;
// So many datagrams in a row are lost by chance in no job.
constexpr std::uint64_t k_periods_of_limit = 20;
constexpr std::uint64_t k_late_periods = 2; // after so many the thread has not run
constexpr int k_farewells = 10;
constexpr std::uint64_t k_between_farewells_ns = 30 * k_ms;
constexpr int k_backlog = 4096; // of connections to a process that is stopped

// An address as sockets of this host have it: both versions of IP by one socket, or the fourth
// alone where the kernel has no other.
struct kernel_address {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;

    [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
};

kernel_address to_kernel(sockaddr_in6 const& address, int family) noexcept {
    kernel_address made;
    if (family == AF_INET6) {
        std::memcpy(&made.storage, &address, made.size = sizeof address);
        return made;
    }
    sockaddr_in of_four{};
    of_four.sin_family = AF_INET;
    of_four.sin_port = address.sin6_port;
    std::memcpy(&of_four.sin_addr, &address.sin6_addr.s6_addr[12], sizeof of_four.sin_addr);
    std::memcpy(&made.storage, &of_four, made.size = sizeof of_four);
    return made;
}

sockaddr_in6 from_kernel(kernel_address const& address) noexcept {
    sockaddr_in6 made{};
    if (address.storage.ss_family == AF_INET6) {
        std::memcpy(&made, &address.storage, sizeof made);
        return made;
    }
    sockaddr_in of_four{};
    std::memcpy(&of_four, &address.storage, sizeof of_four);
    made.sin6_family = AF_INET6;
    made.sin6_port = of_four.sin_port;
    made.sin6_addr.s6_addr[10] = made.sin6_addr.s6_addr[11] = 0xFF;
    std::memcpy(&made.sin6_addr.s6_addr[12], &of_four.sin_addr, sizeof of_four.sin_addr);
    return made;
}

int open_socket(int family, int type) noexcept {
    return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Opens a socket with a port of its own. -1: it cannot be had.
int open_port(int family, int type, std::uint16_t& port) noexcept {
    int const made = open_socket(family, type);
    if (made < 0) return -1;
    int const both = 0;
    if (family == AF_INET6) setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    sockaddr_in6 const any{};
    kernel_address own = to_kernel(any, family);
    own.storage.ss_family = static_cast<sa_family_t>(family);
    if (bind(made, own.get(), own.size) == 0 && getsockname(made, own.get(), &own.size) == 0 &&
        (type != SOCK_STREAM || listen(made, k_backlog) == 0)) {
        port = ntohs(from_kernel(own).sin6_port);
        return made;
    }
    close(made);
    return -1;
}

sockaddr_in6 socket_address(in6_addr const& address, std::uint16_t port) noexcept {
    sockaddr_in6 made{};
    made.sin6_family = AF_INET6;
    made.sin6_addr = address;
    made.sin6_port = htons(port);
    return made;
}

int error_of(int socket) noexcept {
    int error = ENOTCONN;
    socklen_t size = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

void close_if_open(int& descriptor) noexcept {
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

} // namespace

host_watch::host_watch(std::uint64_t job) noexcept : m_contact(contact_of_this_host()) {
    m_contact.job = job;
    m_datagrams = open_port(AF_INET6, SOCK_DGRAM, m_contact.datagram_port);
    if (m_datagrams < 0)
        m_datagrams = open_port(m_family = AF_INET, SOCK_DGRAM, m_contact.datagram_port);
    m_listener = open_port(m_family, SOCK_STREAM, m_contact.probe_port);
    m_end = eventfd(0, EFD_CLOEXEC);
    if (m_listener < 0 || m_end < 0) m_contact.datagram_port = 0;
}

host_watch::~host_watch() {
    stop();
    for (peer& p : m_peers) close_if_open(p.asked.socket);
    close_if_open(m_datagrams);
    close_if_open(m_listener);
    close_if_open(m_end);
}

bool host_watch::start(settings chosen) {
    m_chosen = std::move(chosen);
    if (!m_contact.is_reachable()) return false;
    for (member const& other : m_chosen.others) {
        if (!other.contact.is_reachable()) continue;
        peer& p = m_peers.emplace_back();
        p.host = other;
    }
    try {
        os::signals_blocked const handlers_are_for_other_threads;
        m_thread = std::thread([this] { run(); });
    } catch (std::system_error const&) {
        return false;
    }
    return true;
}

void host_watch::stop() noexcept {
    if (!m_thread.joinable()) return;
    m_stops.store(true, std::memory_order_relaxed); // relaxed: published by the next line
    static_cast<void>(eventfd_write(m_end, 1));
    m_thread.join();
}

std::uint64_t host_watch::period_ns() const noexcept {
    return std::clamp(m_chosen.limit_ns / k_periods_of_limit, k_least_period_ns, k_most_period_ns);
}

// --- the thread ----------------------------------------------------------------------------------

void host_watch::run() noexcept try {
    os::set_name("tulle-hosts");
    m_began = m_last_round = os::monotonic_ns();
    while (!m_stops.load(std::memory_order_relaxed)) { // relaxed: published by what ends the wait
        beat_and_judge(os::monotonic_ns());
        wait_until(m_last_round + period_ns());
    }
    leave();
} catch (std::exception const&) {
    return; // no memory: as without a watch; others hear that this host is there no more
}

void host_watch::beat_and_judge(std::uint64_t now) {
    receive_all(); // what came before counts before others are judged
    std::uint64_t const since = now - m_last_round;
    std::uint64_t const missed = since > k_late_periods * period_ns() ? since : 0;
    m_last_round = now;
    m_began += missed;
    // judge() may end the process, and add nobody
    for (std::size_t k = 0; k < m_peers.size(); ++k) {
        peer& p = m_peers[k];
        if (p.is_over) continue;
        p.heard_at += missed;
        p.answered_at += p.answered_at != 0 ? missed : 0;
        send(p, kind::beat);
        judge(p, now);
    }
}

// Sleeps until then, or until stop(); takes what comes meanwhile.
void host_watch::wait_until(std::uint64_t deadline) {
    for (;;) {
        std::uint64_t const now = os::monotonic_ns();
        if (now >= deadline || m_stops.load(std::memory_order_relaxed)) return; // relaxed: see run
        m_wanted = {{m_end, POLLIN, 0}, {m_datagrams, POLLIN, 0}, {m_listener, POLLIN, 0}};
        for (peer const& p : m_peers) m_wanted.push_back({p.asked.socket, POLLOUT, 0});
        std::size_t const asked = m_peers.size();
        if (poll(m_wanted.data(), m_wanted.size(), static_cast<int>((deadline - now) / k_ms + 1)) <=
            0)
            continue;
        for (std::size_t k = 0; k < asked; ++k)
            if (m_wanted[k + 3].revents != 0)
                end_probe(m_peers[k], error_of(m_wanted[k + 3].fd), os::monotonic_ns());
        if (m_wanted[1].revents != 0) receive_all();
        if (m_wanted[2].revents != 0) accept_all();
    }
}

// Tells the others until all know, or have been told often enough.
void host_watch::leave() noexcept try {
    auto const knows = [](peer const& p) {
        return p.is_over || !p.was_heard || p.knows_that_we_leave;
    };
    // relaxed: only this thread reads it from now on
    m_stops.store(false, std::memory_order_relaxed);
    for (int k = 0; k < k_farewells && !std::all_of(m_peers.begin(), m_peers.end(), knows); ++k) {
        for (peer const& p : m_peers)
            if (!knows(p)) send(p, kind::leaving);
        std::uint64_t const next = os::monotonic_ns() + k_between_farewells_ns;
        pollfd wanted{m_datagrams, POLLIN, 0};
        while (os::monotonic_ns() < next && !std::all_of(m_peers.begin(), m_peers.end(), knows))
            if (poll(&wanted, 1, static_cast<int>(k_between_farewells_ns / k_ms)) > 0)
                receive_all();
    }
} catch (std::exception const&) {
    return; // as when all datagrams are lost
}

// --- datagrams -----------------------------------------------------------------------------------

void host_watch::send_to(sockaddr_in6 const& destination, kind message) const noexcept {
    if (m_family == AF_INET && !IN6_IS_ADDR_V4MAPPED(&destination.sin6_addr)) return;
    datagram const sent{m_contact.job, m_chosen.own_id, message, m_contact.probe_port,
                        m_contact.name};
    kernel_address address = to_kernel(destination, m_family);
    static_cast<void>(
        // A datagram that is lost is sent again soon.
        sendto(m_datagrams, &sent, sizeof sent, MSG_NOSIGNAL, address.get(), address.size));
}

// Sends to the address from which the peer was heard; to all its addresses if it has not been heard
// lately.
void host_watch::send(peer const& receiver, kind message) const noexcept {
    bool const is_silent =
        !receiver.was_heard || m_last_round > receiver.heard_at + m_chosen.limit_ns / 4;
    if (receiver.was_heard) send_to(receiver.from, message);
    for (std::size_t k = 0; is_silent && k < receiver.host.contact.address_count; ++k)
        send_to(
            socket_address(receiver.host.contact.addresses[k], receiver.host.contact.datagram_port),
            message);
}

void host_watch::receive_all() {
    for (;;) {
        datagram got{};
        kernel_address from;
        ssize_t const bytes = recvfrom(m_datagrams, &got, sizeof got, 0, from.get(), &from.size);
        // Nothing is left. An error of an earlier datagram that nobody received is no news.
        if (bytes < 0 && errno != ECONNREFUSED) return;
        if (bytes == sizeof got && got.job == m_contact.job && got.id != m_chosen.own_id)
            receive(got, from_kernel(from));
    }
}

void host_watch::receive(datagram const& got, sockaddr_in6 const& address) {
    auto found = std::find_if(m_peers.begin(), m_peers.end(),
                              [&got](peer const& p) { return p.host.id == got.id; });
    if (found == m_peers.end()) {
        if (!m_chosen.takes_strangers) return;
        peer& made = m_peers.emplace_back();
        made.host.id = got.id;
        made.host.contact.probe_port = static_cast<std::uint16_t>(got.probe_port);
        made.host.contact.name = got.name;
        made.host.contact.name.back() = '\0';
        found = m_peers.end() - 1;
    }
    peer& p = *found;
    bool const is_first = !std::exchange(p.was_heard, true);
    p.was_told = false;
    p.is_gone = false;
    p.heard_at = os::monotonic_ns();
    p.from = address;
    close_if_open(p.asked.socket);
    if (got.what == kind::leaving) {
        p.is_over = true;
        send_to(address, kind::leaving_is_known);
    }
    if (got.what == kind::leaving_is_known) p.knows_that_we_leave = true;
    if (!is_first || p.is_over) return;
    send_to(address, kind::beat); // so that either side knows of the other one from now on
    if (m_chosen.tell_heard) m_chosen.tell_heard(p.host);
}

// --- those that are silent -----------------------------------------------------------------------

void host_watch::judge(peer& p, std::uint64_t now) {
    std::uint64_t const limit = m_chosen.limit_ns;
    if (!p.was_heard) {
        std::uint64_t const first_limit =
            m_chosen.first_limit_ns != 0 ? m_chosen.first_limit_ns : limit;
        if (now - m_began >= first_limit && !std::exchange(p.was_told, true))
            m_chosen.tell_unheard(p.host);
        return;
    }
    std::uint64_t const silent = now - std::min(now, p.heard_at);
    if (silent < limit / 2) return;
    if (p.asked.socket >= 0 && now >= p.asked.give_up_at) close_if_open(p.asked.socket);
    if (p.asked.socket < 0 && !p.is_gone && now >= p.probe_at) begin_probe(p, now);
    if (silent < limit) return;
    if (p.answered_at != 0 && now - std::min(now, p.answered_at) < limit) {
        if (!std::exchange(p.was_told, true)) m_chosen.tell_stopped(p.host);
        return;
    }
    p.is_over = true;
    close_if_open(p.asked.socket);
    m_chosen.tell_lost(p.host, p.is_gone ? loss::process_gone : loss::unreachable);
}

void host_watch::begin_probe(peer& p, std::uint64_t now) noexcept {
    p.asked.give_up_at = p.probe_at = now + m_chosen.limit_ns / 2;
    p.asked.socket = open_socket(m_family, SOCK_STREAM);
    if (p.asked.socket < 0) return;
    sockaddr_in6 port = p.from;
    port.sin6_port = htons(p.host.contact.probe_port);
    kernel_address address = to_kernel(port, m_family);
    int const error = connect(p.asked.socket, address.get(), address.size) == 0 ? 0 : errno;
    if (error != EINPROGRESS) end_probe(p, error, now);
}

// The probe has been answered, or will not be.
void host_watch::end_probe(peer& p, int error, std::uint64_t now) noexcept {
    if (error == 0) p.answered_at = now;
    p.is_gone = error == ECONNREFUSED;
    close_if_open(p.asked.socket);
}

void host_watch::accept_all() const noexcept {
    for (int each = 0; (each = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
        close(each);
}

} // namespace tulle::net

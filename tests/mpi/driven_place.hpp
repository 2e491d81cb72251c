// SPDX-License-Identifier: Apache-2.0
// A transport of another process, which a test drives as if it were here: each call goes there over
// a connection and is made by a thread there, for as long as it takes; what arrives there is
// delivered here, while it is delivered there.
#pragma once

#include "net/mpi_transport.hpp"
#include "net/transport.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tulle::test {

using net::packet;
using net::rank;

class connection {
public:
    explicit connection(int socket) : m_socket(socket) {
        int const at_once = 1;
        setsockopt(m_socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    }
    connection(connection&& other) noexcept : m_socket(std::exchange(other.m_socket, -1)) {}
    connection& operator=(connection&& other) noexcept {
        std::swap(m_socket, other.m_socket);
        return *this;
    }
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection() {
        if (m_socket >= 0) ::close(m_socket);
    }

    static connection to(std::string const& host, std::uint16_t port) {
        addrinfo wanted{};
        wanted.ai_family = AF_INET;
        wanted.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
            throw std::runtime_error("there is no host " + host);
        connection made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        bool const is_refused = connect(made.m_socket, found->ai_addr, found->ai_addrlen) != 0;
        freeaddrinfo(found);
        if (is_refused) throw std::system_error(errno, std::generic_category(), "connect");
        return made;
    }

    void put(void const* bytes, std::size_t size) const {
        auto const* from = static_cast<std::byte const*>(bytes);
        for (ssize_t done = 0; size != 0; from += done, size -= static_cast<std::size_t>(done))
            if (done = ::send(m_socket, from, size, MSG_NOSIGNAL); done <= 0)
                throw std::runtime_error("a process is gone");
    }
    void get(void* bytes, std::size_t size) const {
        auto* to = static_cast<std::byte*>(bytes);
        for (ssize_t done = 0; size != 0; to += done, size -= static_cast<std::size_t>(done))
            if (done = recv(m_socket, to, size, 0); done <= 0)
                throw std::runtime_error("a process is gone");
    }
    template <class T> void put(T const& value) const { put(&value, sizeof value); }
    template <class T> T get() const {
        T value;
        get(&value, sizeof value);
        return value;
    }

private:
    int m_socket;
};

enum class call : std::uint32_t {
    open,
    close,
    most_bytes,
    try_send,
    poll,
    begin_watch,
    end_watch,
    arm,
    sleep,
    wake,
    read,
    quit
};

struct request {
    call what = call::quit;
    rank to = 0; // or how many places
    packet head{};
    std::uint64_t number = 0; // a deadline, or an address
    std::uint64_t bytes = 0;
};

// --- where the transport is ----------------------------------------------------------------------

class driven_process {
public:
    // By all processes; null: this one is not of them.
    using maker = std::function<std::unique_ptr<net::mpi_transport>(rank count)>;

    // `advance` lets MPI go on with what is under way.
    driven_process(maker make, std::function<void()> advance)
        : m_make(std::move(make)),
          m_advance(std::move(advance)),
          m_listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        socklen_t size = sizeof any;
        auto* const address = reinterpret_cast<sockaddr*>(&any);
        if (bind(m_listener, address, size) != 0 || listen(m_listener, 64) != 0 ||
            getsockname(m_listener, address, &size) != 0)
            throw std::system_error(errno, std::generic_category(), "listen");
        m_port = ntohs(any.sin_port);
        m_acceptor = std::thread([this] { accept_all(); });
        m_looker = std::thread([this] { look_around(); });
    }
    driven_process(driven_process const&) = delete;
    driven_process& operator=(driven_process const&) = delete;
    ~driven_process() { // after who drives has told it to quit
        m_acceptor.join();
        m_stops = true;
        m_looker.join();
        for (std::thread& each : m_servers) each.join();
        ::close(m_listener);
    }
    [[nodiscard]] std::uint16_t port() const { return m_port; }

private:
    void accept_all() {
        for (int socket = 0; (socket = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
            m_servers.emplace_back(
                [this, with = std::make_shared<connection>(socket)] { serve(*with); });
    }
    void serve(connection const& with) try {
        for (;;) {
            auto const asked = with.get<request>();
            if (asked.what == call::quit) {
                shutdown(m_listener, SHUT_RDWR);
                return;
            }
            with.put(answer(asked, with));
        }
    } catch (std::runtime_error const&) {} // who drives does not need this connection any more

    void replace(std::unique_ptr<net::mpi_transport> next) {
        std::lock_guard const held(m_lock);
        m_place = std::move(next);
    }
    // What a place has sent may need its help, though the test does not poll there. A place that
    // sleeps looks for messages; but one for which something has come polls instead of that.
    void look_around() {
        for (; !m_stops; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            std::lock_guard const held(m_lock);
            if (m_place != nullptr && m_place->has_message()) m_advance();
        }
    }

    std::uint64_t answer(request const& asked, connection const& with) {
        switch (asked.what) {
            case call::open: replace(m_make(asked.to)); return 0;
            case call::close: replace(nullptr); return 0;
            case call::most_bytes: return m_place->most_bytes();
            case call::try_send: {
                std::vector<std::byte> payload(asked.head.size);
                with.get(payload.data(), payload.size());
                return static_cast<std::uint64_t>(
                    m_place->try_send(asked.to, asked.head, payload.data()));
            }
            case call::poll: return poll(with);
            case call::begin_watch: m_place->begin_watch(); return 0;
            case call::end_watch: m_place->end_watch(); return 0;
            case call::arm: m_place->arm(); return 0;
            case call::sleep: m_place->sleep(asked.number); return 0;
            case call::wake: m_place->wake(); return 0;
            case call::read: {
                std::vector<std::byte> here(asked.bytes);
                return static_cast<std::uint64_t>(
                    m_place->read(asked.to, here.data(), asked.number, asked.bytes));
            }
            case call::quit: break;
        }
        throw std::logic_error("an unknown call");
    }
    std::uint64_t poll(connection const& with) const {
        class forwarder final : public net::receiver {
        public:
            explicit forwarder(connection const& to) : m_to(to) {}
            void deliver(packet const& head, std::byte const* payload) noexcept override {
                m_to.put(true);
                m_to.put(head);
                m_to.put(payload, head.size);
                static_cast<void>(m_to.get<bool>()); // it has been delivered there
            }

        private:
            connection const& m_to;
        } forward(with);
        bool const found = m_place->poll(forward);
        with.put(false);
        return static_cast<std::uint64_t>(found);
    }

    maker m_make;
    std::function<void()> m_advance;
    int m_listener;
    std::uint16_t m_port = 0;
    std::mutex m_lock; // of the next one, as it comes and goes
    std::unique_ptr<net::mpi_transport> m_place;
    std::atomic<bool> m_stops{false};
    std::thread m_looker;
    std::vector<std::thread> m_servers;
    std::thread m_acceptor;
};

// --- where the test is ---------------------------------------------------------------------------

class process_handle {
public:
    process_handle(std::string host, std::uint16_t port) : m_host(std::move(host)), m_port(port) {}

    // A connection that nobody else uses meanwhile.
    template <class F> auto with(F act) {
        connection taken = take();
        auto result = act(std::as_const(taken));
        std::lock_guard const held(m_lock);
        m_free.push_back(std::move(taken));
        return result;
    }
    std::uint64_t ask(request const& what) {
        return with([&](connection const& to) {
            to.put(what);
            return to.get<std::uint64_t>();
        });
    }
    void tell_to_quit() { take().put(request{}); }

    std::atomic<std::uint64_t> under_way{0}; // messages to it that it has not delivered

private:
    connection take() {
        std::lock_guard const held(m_lock);
        if (m_free.empty()) return connection::to(m_host, m_port);
        connection taken = std::move(m_free.back());
        m_free.pop_back();
        return taken;
    }

    std::string m_host;
    std::uint16_t m_port;
    std::mutex m_lock;
    std::vector<connection> m_free;
};

// Open while it exists; all processes take part in that.
class open_places {
public:
    open_places(std::vector<std::unique_ptr<process_handle>>& processes, rank count)
        : m_processes(processes), m_count(count) {
        for (auto const& p : processes) p->under_way = 0;
        ask_all({call::open, count});
    }
    open_places(open_places const&) = delete;
    open_places& operator=(open_places const&) = delete;
    ~open_places() { ask_all({call::close}); }
    [[nodiscard]] rank count() const { return m_count; }
    [[nodiscard]] process_handle& at(rank r) const { return *m_processes[r]; }

private:
    void ask_all(request const& what) {
        std::vector<std::thread> asking;
        for (auto const& p : m_processes) asking.emplace_back([&what, &p] { p->ask(what); });
        for (std::thread& each : asking) each.join();
    }

    std::vector<std::unique_ptr<process_handle>>& m_processes;
    rank m_count;
};

class driven_place final : public net::transport {
public:
    driven_place(std::shared_ptr<open_places> all, rank here)
        : m_all(std::move(all)), m_here(here), m_own(m_all->at(here)) {}

    // What has been sent to it has not all been delivered.
    [[nodiscard]] bool expects_messages() const { return m_own.under_way != 0; }

    [[nodiscard]] rank here() const noexcept override { return m_here; }
    [[nodiscard]] rank count() const noexcept override { return m_all->count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return ask(call::most_bytes); }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        ++m_all->at(to).under_way;
        bool const is_sent = m_own.with([&](connection const& there) {
            there.put(request{call::try_send, to, head});
            there.put(payload, head.size);
            return there.get<std::uint64_t>() != 0;
        });
        if (!is_sent) --m_all->at(to).under_way;
        return is_sent;
    }
    bool poll(net::receiver& to) noexcept override {
        return m_own.with([&](connection const& there) {
            there.put(request{call::poll});
            while (there.get<bool>()) {
                auto const head = there.get<packet>();
                std::vector<std::byte> payload(head.size);
                there.get(payload.data(), payload.size());
                --m_own.under_way;
                to.deliver(head, payload.data());
                there.put(true);
            }
            return there.get<std::uint64_t>() != 0;
        });
    }
    void begin_watch() noexcept override { ask(call::begin_watch); }
    void end_watch() noexcept override { ask(call::end_watch); }
    void arm() noexcept override { ask(call::arm); }
    void sleep(std::uint64_t deadline) noexcept override {
        m_own.ask({call::sleep, 0, {}, deadline});
    }
    void wake() noexcept override { ask(call::wake); }
    [[nodiscard]] int read(rank from, void* /*to*/, std::uint64_t address,
                           std::size_t bytes) noexcept override {
        return static_cast<int>(m_own.ask({call::read, from, {}, address, bytes}));
    }

private:
    std::uint64_t ask(call what) const noexcept { return m_own.ask({what}); }

    std::shared_ptr<open_places> m_all;
    rank m_here;
    process_handle& m_own;
};

} // namespace tulle::test

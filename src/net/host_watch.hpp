// SPDX-License-Identifier: Apache-2.0
// Finds out that another host of a job is not there any more, which MPIs do not tell: one process
// of each host sends the others a datagram now and then.
// A host that has been silent for the limit is lost.
//   An OS thread of its own sends and receives, whatever else the process does. While that thread
//   did not run it was silent itself, so that time does not count.
//   A process that is stopped, by a debugger for instance, is silent, too. So before a host is lost
//   its kernel is asked: it completes a connection to a port on which the process listens, and
//   refuses one when the process is gone; only a host that is not there says nothing.
//   A host counts from its first datagram on: where firewalls let none through, nobody is watched,
//   which a warning tells.
//   A host that leaves says so and waits a little until the others know.
// See src/messenger/place_death.md.
#pragma once

#include "net/host_contact.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace tulle::net {

class host_watch {
public:
    enum class loss : std::uint8_t {
        unreachable, // nothing answers there
        process_gone // the host is there
    };
    struct member {
        std::uint32_t id = 0;
        host_contact contact;
    };
    struct settings {
        std::uint32_t own_id = 0;
        std::uint64_t limit_ns = 0;
        std::uint64_t first_limit_ns = 0; // until another one is heard first; 0: the same
        std::vector<member> others{};
        // Members of the job that are not among `others` are watched from their first datagram on.
        bool takes_strangers = false;
        // The thread of the watch calls these. A lost member is told once; a stopped one once until
        // it is heard again; one that has never been heard, after the first limit. One that is
        // heard first, at once, if somebody asks; it has been answered then.
        std::function<void(member const&)> tell_heard{};
        std::function<void(member const&, loss)> tell_lost{};
        std::function<void(member const&)> tell_stopped{};
        std::function<void(member const&)> tell_unheard{};
    };

    // Opens the ports; without them contact() is not reachable, and nothing is watched.
    explicit host_watch(std::uint64_t job) noexcept;
    host_watch(host_watch const&) = delete;
    host_watch& operator=(host_watch const&) = delete;
    ~host_watch();

    // What the other hosts need to reach this one.
    [[nodiscard]] host_contact const& contact() const noexcept { return m_contact; }
    // The job of the others, if it is known only now; before start().
    void set_job(std::uint64_t job) noexcept { m_contact.job = job; }
    // False: there is no thread, so nobody is watched. Throws std::bad_alloc.
    bool start(settings chosen);
    // Tells the others that this host leaves. Not by the thread of the watch.
    void stop() noexcept;

private:
    enum class kind : std::uint32_t { beat, leaving, leaving_is_known };
    struct datagram {
        std::uint64_t job;
        std::uint32_t id;
        kind what;
        std::uint64_t probe_port;
        std::array<char, 64> name;
    };
    struct probe {
        int socket = -1;
        std::uint64_t give_up_at = 0;
    };
    struct peer {
        member host;
        bool was_heard = false;
        bool is_over = false; // it has left, or is lost
        bool knows_that_we_leave = false;
        bool is_gone = false;  // its host says so: the process has ended
        bool was_told = false; // that it is stopped, or unheard
        std::uint64_t heard_at = 0;
        std::uint64_t answered_at = 0; // its kernel
        std::uint64_t probe_at = 0;    // again
        sockaddr_in6 from{};           // where it was heard from
        probe asked{};
    };

    void run() noexcept;
    void beat_and_judge(std::uint64_t now);
    void leave() noexcept;
    void wait_until(std::uint64_t deadline);
    void receive_all();
    void receive(datagram const& got, sockaddr_in6 const& address);
    void accept_all() const noexcept;
    void send(peer const& receiver, kind message) const noexcept;
    void send_to(sockaddr_in6 const& destination, kind message) const noexcept;
    void judge(peer& p, std::uint64_t now);
    void begin_probe(peer& p, std::uint64_t now) noexcept;
    static void end_probe(peer& p, int error, std::uint64_t now) noexcept;
    [[nodiscard]] std::uint64_t period_ns() const noexcept;

    host_contact m_contact;
    int m_family = AF_INET6; // of the sockets
    int m_datagrams = -1;
    int m_listener = -1;
    int m_end = -1; // a descriptor that wakes the thread
    std::atomic<bool> m_stops{false};
    settings m_chosen;
    std::vector<peer> m_peers;
    std::vector<pollfd> m_wanted;
    std::uint64_t m_began = 0;
    std::uint64_t m_last_round = 0;
    std::thread m_thread;
};

} // namespace tulle::net

// SPDX-License-Identifier: Apache-2.0
// The clients of a server that sends back what it gets: a process of its own, with one OS thread
// and an epoll loop, whatever library the server uses. Each connection has one message under way.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace tulle::bench {

struct echo_load {
    std::uint64_t answers = 0;
    double seconds = 0;
    double p99_us = 0; // of the time to an answer
    bool ok = false;   // each answer was right, and no connection was lost
};

class echo_clients {
public:
    static constexpr std::size_t k_message = 64;  // bytes
    static constexpr std::size_t k_buffer = 1024; // of a server, which does not know that

    // Listens, and starts the process, which connects so many times, has one message answered on
    // each connection, and then waits for go(). The process must have one thread.
    explicit echo_clients(int connections);
    echo_clients(echo_clients const&) = delete;
    echo_clients& operator=(echo_clients const&) = delete;
    ~echo_clients();

    [[nodiscard]] bool is_good() const noexcept { return m_pid > 0; }
    [[nodiscard]] int listener() const noexcept { return m_listener; }
    // Becomes readable, by one byte, when all have had their first answer.
    [[nodiscard]] int held() const noexcept { return m_from; }
    // They send for so long, and close all connections.
    void go(double seconds) noexcept;
    // Waits for the end of it.
    [[nodiscard]] echo_load result() noexcept;

private:
    int m_listener = -1;
    int m_to = -1, m_from = -1; // the process
    pid_t m_pid = -1;
};

// So many descriptors and some more; false: there are not as many.
bool want_descriptors(long count) noexcept;

} // namespace tulle::bench

// SPDX-License-Identifier: Apache-2.0
// The contract of what carries messages between places. It knows neither threads nor what messages mean.
//   Order: none is promised between two messages, not even of one sender to one receiver.
//   Each message that try_send has taken arrives once, unless one of the two places dies.
//   Progress: somebody polls. Whoever will not poll for a while sleeps by arm() and sleep(), and is woken by the next message, unless others
//   watch: between begin_watch() and end_watch() a place polls anyway, and its senders save themselves the system call.
// Implementations: shm_transport (processes of one host), loopback_transport (places of one process). The tests are the same for all:
// tests/unit/net/transport_test.cpp.
#pragma once

#include "net/packet.hpp"

#include <cstddef>
#include <cstdint>

namespace tulle::net {

class transport {
public:
    transport() = default;
    transport(transport const&) = delete;
    transport& operator=(transport const&) = delete;
    virtual ~transport() = default;

    [[nodiscard]] virtual rank here() const noexcept = 0;
    [[nodiscard]] virtual rank count() const noexcept = 0;
    // Bytes that may follow a packet.
    [[nodiscard]] virtual std::size_t most_bytes() const noexcept = 0;

    // To another place or to this one; by any OS thread. The payload, at most most_bytes(), has been copied when it returns. False: there is no room
    // now, and nothing was done; poll, and try again.
    // Memory ordering: what happens before it happens before the delivery.
    [[nodiscard]] virtual bool try_send(rank to, packet head, std::byte const* payload) noexcept = 0;

    // Delivers some of what has arrived. One OS thread at a time. True: there was something.
    virtual bool poll(receiver& to) noexcept = 0;

    // By any OS threads, nested at will. After end_watch(), poll once more, or wake() if another OS thread polls.
    virtual void begin_watch() noexcept = 0;
    virtual void end_watch() noexcept = 0;

    // By one OS thread: arm(), poll once more, and if there was nothing, sleep(); it returns when a message arrives that nobody watches for, by
    // wake(), or at the deadline (ns, monotonic), at once if that happened since arm(). wake() before arm() ends no sleep, but what was done before it
    // is seen after arm().
    virtual void arm() noexcept = 0;
    virtual void sleep(std::uint64_t deadline) noexcept = 0;
    virtual void wake() noexcept = 0;

    // Reads private memory of another place without its help. 0, or an errno value: ENOTSUP, EPERM: it cannot be done, send it instead; EFAULT:
    // there is no such memory; ESRCH: the place is gone.
    [[nodiscard]] virtual int read(rank from, void* to, std::uint64_t address, std::size_t bytes) noexcept = 0;
};

} // namespace tulle::net

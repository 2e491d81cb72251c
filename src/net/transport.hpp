// SPDX-License-Identifier: Apache-2.0
// The contract of what carries messages between places. It knows neither threads nor what messages
// mean.
//   Order: none is promised between two messages, not even of one sender to one receiver.
//   Each message that try_send has taken arrives once, unless one of the two places dies. What a
//   place has sent before it died arrives where memory carries it.
//   Progress: somebody polls, at the sender too: a network may need its help for what it has taken.
//   A place that will not poll for a while sleeps by arm() and sleep(), and is woken by the next
//   message, unless others watch: between begin_watch() and end_watch() a place polls anyway, and
//   its senders save themselves the system call.
// Implementations: shm_transport (processes of one host), mpi_transport (processes that an MPI has
// started), loopback_transport (places of one process).
// The tests are the same for all: tests/support/transport_contract.hpp.
#pragma once

#include "net/arrivals.hpp"
#include "net/packet.hpp"
#include "os/fixed_range.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tulle::net {

class transport {
public:
    transport() = default;
    transport(transport const&) = delete;
    transport& operator=(transport const&) = delete;
    virtual ~transport() = default;

    [[nodiscard]] virtual rank here() const noexcept = 0;
    [[nodiscard]] virtual rank count() const noexcept = 0;
    // Bytes that may follow a packet, to any place.
    [[nodiscard]] virtual std::size_t most_bytes() const noexcept = 0;
    // The most that may follow a packet to that place: never less than most_bytes().
    [[nodiscard]] virtual std::size_t most_bytes_to(rank /*to*/) const noexcept {
        return most_bytes();
    }

    // Sends to another place or to this one; any OS thread may call it. The payload, at most
    // most_bytes_to(to), has been copied when it returns. False: there is no room now, and nothing
    // was done; poll, and try again. Memory ordering: what happens before it happens before the
    // delivery.
    [[nodiscard]] virtual bool try_send(rank to, packet head,
                                        std::byte const* payload) noexcept = 0;

    // Delivers some of what has arrived, and tells of deaths. One OS thread at a time. True: there
    // was something, or streams move.
    virtual bool poll(receiver& sink) noexcept = 0;

    // Any OS threads call these, nested at will. After end_watch(), poll once more, or wake() if
    // another OS thread polls.
    virtual void begin_watch() noexcept = 0;
    virtual void end_watch() noexcept = 0;

    // One OS thread goes to sleep: it calls arm(), polls once more, and if there was nothing, calls
    // sleep(). That returns when a message arrives that nobody watches for, by wake(), or at the
    // deadline (ns, monotonic), at once if that happened since arm(). wake() before arm() ends no
    // sleep, but what was done before it is seen after arm().
    virtual void arm() noexcept = 0;
    virtual void sleep(std::uint64_t deadline) noexcept = 0;
    virtual void wake() noexcept = 0;

    // Memory in which this place puts large payloads for that one, which reads them there. By any
    // OS thread.
    struct staged {
        std::byte* bytes = nullptr; // null: there is none, or none is left
        std::uint64_t name = 0;     // by which that place finds it
    };
    [[nodiscard]] virtual staged stage(rank /*to*/, std::size_t /*bytes*/) noexcept { return {}; }
    virtual void unstage(rank /*to*/, std::uint64_t /*name*/) noexcept {}
    // What another place has staged; it must not be changed. Memory ordering: its messages order
    // what it has written there.
    [[nodiscard]] virtual std::byte const* find_staged(std::uint64_t /*name*/) const noexcept {
        return nullptr;
    }
    // Memory that all places name by the same addresses: `each` bytes, whole pages, of every place,
    // one after the other. Maps what loads and stores reach, at least the part of this place; once,
    // and until this object is gone. Null: errno says why; EEXIST: something else is at those
    // addresses.
    [[nodiscard]] virtual std::byte* map_segments(std::size_t each) noexcept;
    // Where they begin, the same for all places; before map_segments.
    void choose_segments_address(std::uintptr_t address) noexcept { m_segments_at = address; }
    // Whether that place's part is one of these; then loads, stores and atomic operations of both
    // act on the same memory.
    [[nodiscard]] virtual bool reaches(rank place) const noexcept { return place == here(); }

    // Memory of that place, zeros at first, that loads, stores and atomic operations of both places
    // act on; each may have it at another address.
    // What places may take from each other lies there (balance/global_deque.hpp). Empty: there is
    // none.
    [[nodiscard]] virtual std::span<std::byte> steal_area(rank /*place*/) noexcept { return {}; }

    // How far that place has come in barriers. Null: it tells so by messages alone; then this place
    // does, too.
    [[nodiscard]] virtual shared_arrivals* arrivals_of(rank /*place*/) noexcept { return nullptr; }

    // Reads private memory of another place without its help. 0, or an errno value: ENOTSUP, EPERM:
    // it cannot be done, send it instead; EFAULT:
    // there is no such memory; ESRCH: the place is gone.
    [[nodiscard]] virtual int read(rank from, void* to, std::uint64_t address,
                                   std::size_t bytes) noexcept = 0;

    // Streams, where the network itself moves large payloads from memory to memory. The receiver
    // begins and tells the sender the number, and the sender sends as many bytes. The polling
    // thread tells when a side is done (receiver::moved). 0: it cannot be done, send messages
    // instead. Any OS thread may call these.
    [[nodiscard]] virtual std::uint32_t begin_receive(rank /*from*/, std::span<std::byte> /*to*/,
                                                      std::uint64_t /*cookie*/) noexcept {
        return 0;
    }
    // False: no memory.
    [[nodiscard]] virtual bool begin_send(rank /*to*/, std::uint32_t /*number*/,
                                          std::span<std::byte const> /*from*/,
                                          std::uint64_t /*cookie*/) noexcept {
        return false;
    }

    // At the end, the thread that may poll calls this instead of polling. It waits, where the
    // network needs that, until all places have called it. Nothing is delivered any more, and
    // nothing can be sent.
    virtual void close() noexcept {}

protected:
    // Reserves the segments at the address that was chosen for them. Nothing of it is mapped yet.
    // False: errno says why.
    [[nodiscard]] bool reserve_segments(std::size_t each) noexcept;
    os::fixed_range m_segments;

private:
    std::uintptr_t m_segments_at = os::fixed_range::usual_address();
};

} // namespace tulle::net

// SPDX-License-Identifier: Apache-2.0
// Messages between processes that an MPI has started. A message is one of MPI's, at most a header
// and most_bytes(), into a ring of receives that stand ready.
//   Flow control: of one place to another at most k_credit small messages have been sent that have
//   not been polled, or fewer large ones; so what a place holds for others is bounded. How many
//   have been polled stands in each header that goes back, or in a header of its own when nothing
//   goes back.
//   Sleep: MPI cannot wake anybody, so a sleeper polls now and then (net/poll_pauses.hpp), and has
//   the network watched where that can be done. Senders ring no doorbell.
//   Deaths: known where MPI tells of them, by the receives that stand ready. What is sent to the
//   dead is dropped, as is what comes from them later.
//   MPI is called by one OS thread at a time, whatever it would allow.
#pragma once

#include "base/spin_lock.hpp"
#include "net/doorbell.hpp"
#include "net/mpi_functions.hpp"
#include "net/mpi_streams.hpp"
#include "net/network_watcher.hpp"
#include "net/order_of_process.hpp"
#include "net/poll_pauses.hpp"
#include "net/transport.hpp"
#include "os/clock.hpp"
#include "os/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace tulle::net {

class mpi_transport final : public transport {
public:
    static constexpr std::uint32_t k_credit = 32;
    // What a message takes of it.
    [[nodiscard]] static constexpr std::uint32_t cost_of(std::size_t bytes) noexcept {
        return static_cast<std::uint32_t>(1 + bytes / 4096);
    }

    // The endpoint is its own from then on. Throws std::bad_alloc. What MPI refuses, here and
    // later, ends the process with a message.
    mpi_transport(mpi_functions const& mpi, mpi_endpoint* over, rank here, rank count,
                  bool tells_deaths = false, std::vector<int> descriptors = {});
    ~mpi_transport() override; // close(), if that has not been called

    [[nodiscard]] rank here() const noexcept override { return m_here; }
    [[nodiscard]] rank count() const noexcept override { return static_cast<rank>(m_peers.size()); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override {
        return sizeof(message_buffer::payload);
    }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override;
    bool poll(receiver& sink) noexcept override;
    void begin_watch() noexcept override { m_doorbell.begin_watch(); }
    void end_watch() noexcept override { end_watch_at(m_doorbell); }
    void arm() noexcept override { m_doorbell.arm(); }
    void sleep(std::uint64_t deadline) noexcept override { sleep_at(m_doorbell, deadline); }
    void wake() noexcept override { m_doorbell.wake(); }
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override;
    [[nodiscard]] std::uint32_t begin_receive(rank from, std::span<std::byte> to,
                                              std::uint64_t cookie) noexcept override;
    [[nodiscard]] bool begin_send(rank to, std::uint32_t number, std::span<std::byte const> from,
                                  std::uint64_t cookie) noexcept override;
    void close() noexcept override;

    [[nodiscard]] bool tells_deaths() const noexcept { return m_tells_deaths; }
    // Whether poll() would find something. Any OS thread.
    [[nodiscard]] bool has_message() noexcept;
    // Sleeps until has_message(), at a doorbell that somebody else has armed; otherwise like
    // sleep(). Streams go on by polls only: those that there are make the sleep short, and one that
    // begins meanwhile ends it.
    template <class Doorbell> void sleep_at(Doorbell& doorbell, std::uint64_t deadline) noexcept {
        bool const had_streams = has_streams();
        std::uint64_t const until =
            had_streams ? std::min(deadline, os::monotonic_ns() + k_poll_for_streams_ns) : deadline;
        sleep_between_polls(
            doorbell, until,
            [this, had_streams] { return has_message() || (!had_streams && has_streams()); },
            [this] { m_watcher.watch(); });
    }
    // Ends the watch of the doorbell. A sleeper may have left the network to the watch.
    template <class Doorbell> void end_watch_at(Doorbell& doorbell) noexcept {
        doorbell.end_watch();
        if (!doorbell.is_watched()) m_watcher.watch_on();
    }
    // What comes from the network ends such a sleep by this instead of wake(). Before the first
    // sleep.
    void wake_by(std::function<void()> other) { m_wake = std::move(other); }

private:
    static constexpr std::uint64_t k_poll_for_streams_ns = 50'000;

    // What MPI carries, and sends at once over most networks; of what is much larger it asks the
    // receiver first.
    struct alignas(64) message_buffer {
        packet head;
        // What the receiver's messages that the sender has polled have cost.
        std::uint32_t polled = 0;
        std::uint32_t is_message = 0;
        std::byte payload[32640];
    };
    struct peer { // what messages have cost
        std::uint32_t sent = 0;
        std::uint32_t polled_there = 0; // of these, as far as it has told
        std::uint32_t polled_here = 0;
        std::uint32_t told = 0; // of these
        bool is_dead = false;
    };
    struct box {
        mpi_request request{};
        message_buffer* contents = nullptr;
    };

    void check(int error, char const* action) const noexcept;
    [[nodiscard]] bool is_done(mpi_request& request) noexcept;
    [[nodiscard]] bool oldest_has_come() noexcept;
    [[nodiscard]] bool take_one(receiver* sink, bool& was_message) noexcept;
    [[nodiscard]] bool take_what_has_come(receiver& sink) noexcept;
    void listen_again() noexcept;
    [[nodiscard]] bool advance_streams(receiver* sink) noexcept;
    [[nodiscard]] bool streams_move() noexcept;
    [[nodiscard]] bool has_streams() noexcept;
    [[nodiscard]] message_buffer* reserve() noexcept;
    void post(rank to, std::size_t payload_bytes) noexcept;
    void collect_sent() noexcept;
    void tell_polled() noexcept;
    [[nodiscard]] bool find_the_dead(receiver& sink) noexcept;
    [[nodiscard]] bool all_have_come(mpi_request& meeting) noexcept;

    mpi_functions const& m_mpi;
    mpi_endpoint* m_over;
    rank m_here;
    bool m_tells_deaths;
    order_of_process m_order;
    doorbell<os::machine> m_doorbell;
    // Guards the calls of MPI, and the rest. What has been received belongs to the polling thread
    // until it listens again.
    base::spin_lock m_lock;
    bool m_is_closed = false;
    // Their payloads are not touched before they are used.
    std::unique_ptr<message_buffer[]> m_buffers; // NOLINT(modernize-avoid-c-arrays)
    std::vector<box> m_receives;                 // a ring: MPI fills them in this order
    std::size_t m_oldest = 0;
    bool m_oldest_has_come = false;
    std::vector<box> m_sends; // the first m_under_way are
    std::size_t m_under_way = 0;
    std::vector<peer> m_peers;
    std::vector<rank> m_dead; // room for as many as there are
    bool m_somebody_died = false;
    mpi_streams m_streams;
    std::uint64_t m_steps_of_streams = 0; // at the last poll
    std::uint64_t m_streams_moved_at = 0; // ns
    bool m_owes_news = false;             // some place is to be told how much has been polled
    bool m_is_dense = false; // the last poll has found a message; used by the polling thread
    std::function<void()> m_wake{[this] { wake(); }};
    network_watcher m_watcher;
};

} // namespace tulle::net

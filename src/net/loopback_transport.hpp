// SPDX-License-Identifier: Apache-2.0
// Places of one process, and a virtual network between them: what it does with messages is decided
// by a seed. For tests and simulations.
#pragma once

#include "base/rng.hpp"
#include "base/spin_lock.hpp"
#include "net/doorbell.hpp"
#include "net/transport.hpp"
#include "os/machine.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace tulle::net {

struct loopback_options {
    // 0: each place gets what was sent to it in the order in which it was sent
    std::uint64_t seed = 0;
    // Where there is a seed, a message is passed over by at most so many polls that take another
    // one.
    std::uint32_t most_delay = 8;
    // Messages to one place that have not been delivered; 0: any number. More are refused by
    // try_send.
    std::size_t most_waiting = 0;
    std::size_t most_bytes = 4096; // that may follow a packet
    bool allows_read = true;       // of other places' memory
    std::size_t staging_bytes = 0; // of each place
    bool shares_segments = true; // loads and stores reach those of all places, and all steal areas
};

class loopback_network {
public:
    // Throws std::bad_alloc.
    explicit loopback_network(rank places, loopback_options const& chosen = {});
    loopback_network(loopback_network const&) = delete;
    loopback_network& operator=(loopback_network const&) = delete;

    [[nodiscard]] rank count() const noexcept { return static_cast<rank>(m_inboxes.size()); }
    [[nodiscard]] loopback_options const& options() const noexcept { return m_options; }
    // Throws std::bad_alloc. It must not outlive the network.
    [[nodiscard]] std::unique_ptr<transport> join(rank as);
    // Cuts that place off: what it sends from now on is dropped, and so is what is sent to it and
    // has not been delivered. For the others it has died; for it, all others have, so that its
    // threads end.
    void kill(rank place, int wait_status) noexcept;
    // Messages taken from senders so far, by a snapshot.
    [[nodiscard]] std::uint64_t sent() noexcept;

private:
    friend class loopback_transport;

    struct message {
        packet head;
        std::vector<std::byte> payload;
        std::uint32_t passed_over = 0;
    };
    struct inbox {
        explicit inbox(std::uint64_t seed) noexcept : random(seed) {}
        base::spin_lock lock; // guards the rest but the doorbell
        std::deque<message> waiting;
        base::rng random;
        std::uint64_t count = 0; // so far
        net::doorbell<os::machine> doorbell;
        std::atomic<bool> is_dead{false};
        std::atomic<int> wait_status{0};
    };

    [[nodiscard]] std::size_t choose(inbox& own) const noexcept;
    [[nodiscard]] std::byte* segments(std::size_t each) noexcept;
    [[nodiscard]] std::span<std::byte> steal_area(rank place) noexcept;
    // acquire: pairs with kill
    [[nodiscard]] bool is_dead(rank place) const noexcept {
        return m_inboxes[place]->is_dead.load(std::memory_order_acquire);
    }

    loopback_options m_options;
    std::vector<std::unique_ptr<inbox>> m_inboxes;
    std::atomic<std::uint32_t> m_deaths{0};
    base::spin_lock m_segments_lock; // guards the next two
    // One for all: they are in one process. Anywhere, so that there may be several networks.
    os::fixed_range m_segments;
    os::fixed_range m_steal_areas;
};

} // namespace tulle::net

// SPDX-License-Identifier: Apache-2.0
// Messages between processes of one host, through rings in the memory that they share. Private
// memory is read by process_vm_readv, where the system allows it.
#pragma once

#include "base/spin_lock.hpp"
#include "net/order_of_process.hpp"
#include "net/session.hpp"
#include "net/staging_area.hpp"
#include "net/transport.hpp"

#include <memory>
#include <vector>

namespace tulle::net {

class shm_transport final : public transport {
public:
    // Takes part as place `here`, which nobody else may. Throws std::bad_alloc.
    shm_transport(session joined, rank here);

    [[nodiscard]] rank here() const noexcept override { return m_here; }
    [[nodiscard]] rank count() const noexcept override { return m_session.places(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_most_bytes; }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override;
    bool poll(receiver& sink) noexcept override;
    void begin_watch() noexcept override { own_entry().doorbell.begin_watch(); }
    void end_watch() noexcept override { own_entry().doorbell.end_watch(); }
    void arm() noexcept override { own_entry().doorbell.arm(); }
    void sleep(std::uint64_t deadline) noexcept override { own_entry().doorbell.sleep(deadline); }
    void wake() noexcept override { own_entry().doorbell.wake(); }
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override;
    void unstage(rank to, std::uint64_t name) noexcept override;
    [[nodiscard]] std::byte const* find_staged(std::uint64_t name) const noexcept override;
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override;
    [[nodiscard]] bool reaches(rank /*any*/) const noexcept override { return true; }
    [[nodiscard]] std::span<std::byte> steal_area(rank place) noexcept override {
        return m_session.steal_area(place);
    }
    [[nodiscard]] shared_arrivals* arrivals_of(rank place) noexcept override {
        return &m_session.entry(place).barriers;
    }
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override;

    [[nodiscard]] session const& joined() const noexcept { return m_session; }
    [[nodiscard]] shared_doorbell& own_doorbell() const noexcept { return own_entry().doorbell; }

private:
    using producer = ring_producer<shared_machine, ring_line>;
    using consumer = ring_consumer<shared_machine, ring_line>;

    struct alignas(64) outgoing {
        explicit outgoing(producer p) noexcept : ring(p) {}
        base::spin_lock lock; // guards the producer's end: any OS thread sends
        producer ring;
        bool is_used = false; // the receiver knows that it is; guarded by `lock`
        bool is_dead = false; // the reader, as far as this place knows; guarded by `lock`
    };

    [[nodiscard]] place_entry& own_entry() const noexcept { return m_session.entry(m_here); }
    bool poll_one(consumer& ring, receiver& sink) noexcept;
    void find_senders(std::uint32_t count) noexcept;
    bool find_the_dead(receiver& sink) noexcept;
    [[nodiscard]] bool is_known_dead(rank place) noexcept;
    void report_death(rank dead, receiver& sink) noexcept;

    session m_session;
    order_of_process m_order;
    rank m_here;
    std::size_t m_most_bytes;
    staging_area m_staging;
    std::vector<std::unique_ptr<outgoing>> m_out;
    std::vector<consumer> m_in;
    // that have ever sent something; used by the polling thread, as is the next
    std::vector<rank> m_senders;
    std::uint32_t m_known_senders = 0; // their number when they were read last
    std::uint32_t m_deaths = 0;        // that this place knows of; used by the polling thread
};

} // namespace tulle::net
